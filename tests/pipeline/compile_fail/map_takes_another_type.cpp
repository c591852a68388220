// expect: weir: map(): the function takes neither (T) nor (T, Context&)
#include <string>

#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).map("decode", [](const std::string& text) { return text.size(); });
}
