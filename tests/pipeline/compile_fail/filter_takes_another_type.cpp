// expect: weir: filter(): the function takes neither (const T&) nor (const T&, Context&) to bool
#include <string>

#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).filter("short", [](const std::string& text) { return text.size() < 3; });
}
