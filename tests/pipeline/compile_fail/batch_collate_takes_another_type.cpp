// expect: weir: batch(): the collate function takes no std::vector<T>
#include <string>
#include <vector>

#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).batch(2, [](std::vector<std::string> texts) { return texts.size(); });
}
