// expect: weir: flat_map(): the function takes neither (T) nor (T, Context&)
#include <string>
#include <vector>

#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3).flat_map(
      "split", [](const std::string& text) { return std::vector<char>(text.begin(), text.end()); });
}
