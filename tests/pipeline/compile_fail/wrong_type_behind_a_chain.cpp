// expect: weir: map(): the function takes neither (T) nor (T, Context&)
#include <string>

#include <weir/sources.hpp>

void compose() {
  (void)weir::range(3)
      .map("text", [](std::int64_t value) { return std::to_string(value); })
      .batch(4)
      .map("sum", [](const weir::Batch<std::int64_t>& batch) { return batch.size(); });
}
