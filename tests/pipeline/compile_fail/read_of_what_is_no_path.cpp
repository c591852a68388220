// expect: weir: read(): the stream in front gives no paths
#include <weir/sources.hpp>

void compose() { (void)weir::range(3).read(); }
