// expect: weir: map(): the function takes neither (State&, T) nor (State&, T, Context&)
#include <string>

#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).map("score", weir::per_worker([] { return 1; }),
                           [](std::string&, std::int64_t value) { return value; });
}
