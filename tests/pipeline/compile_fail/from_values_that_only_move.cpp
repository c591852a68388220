// expect: weir: from(): the values are copied for each epoch
#include <memory>
#include <vector>

#include <weir/sources.hpp>

void compose() { (void)weir::from(std::vector<std::unique_ptr<int>>(3)); }
