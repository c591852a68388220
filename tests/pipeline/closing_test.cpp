#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <weir/loader.hpp>
#include <weir/sources.hpp>

namespace weir {
namespace {

// Closing waits for the function, and the function asks the loader: neither may wait for the other.
TEST(Closing, LetsAFunctionUnderWayAskItsOwnLoader) {
  std::atomic<Loader<std::int64_t>*> own{nullptr};
  std::atomic<int> asked{0};
  std::atomic<bool> inside{false};
  Options options;
  options.workers = 1;
  const auto stream = range(10).map("asks", [&](std::int64_t v, Context& context) {
    if (v < 1) return v;
    inside = true;
    while (!context.stop_token().stop_requested()) std::this_thread::yield();
    (void)own.load()->summary();
    ++asked;
    return v;
  });
  auto loader = std::make_unique<Loader<std::int64_t>>(stream.start(options));
  own = loader.get();
  EXPECT_EQ(loader->next(), 0);
  while (!inside) std::this_thread::yield();
  loader->close();
  EXPECT_GE(asked.load(), 1);
}

}  // namespace
}  // namespace weir
