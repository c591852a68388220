// compiles: what the others do wrong, done right
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/operators.hpp>
#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3)
      .map("text", [](std::int64_t value) { return std::to_string(value); })
      .filter("short", [](const std::string& text) { return text.size() < 3; })
      .flat_map("split",
                [](const std::string& text) { return std::vector<char>(text.begin(), text.end()); })
      .map("score", weir::per_worker([] { return 1; }), [](int& one, char c) { return c + one; })
      .batch(2, [](std::vector<int> values) { return values.size(); });
  (void)weir::files("photos").read();
  (void)weir::files("photos").read_samples().map("decode", weir::decode()).batch(4);
  (void)weir::generate("numbers", [] { return [] { return std::optional<int>(3); }; });
}
