// expect: weir: filter(): the function takes neither (const T&) nor (const T&, Context&) to bool
#include <string>

#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).filter("named", [](std::int64_t) { return std::string("yes"); });
}
