// expect: weir: flat_map(): the function must return a range
#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).flat_map("split", [](std::int64_t value) { return value; });
}
