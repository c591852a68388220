// expect: weir: map(): the function must return the new value
#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).map("log", [](std::int64_t) {});
}
