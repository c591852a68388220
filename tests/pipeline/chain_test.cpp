#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/chain_run.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

class RandomChain : public testing::TestWithParam<std::uint64_t> {};

// Whatever operators are put together: each way to run them gives what reading them one after another,
// epoch by epoch, gives.
TEST_P(RandomChain, GivesWhatTheOperatorsSay) {
  constexpr std::uint32_t kEpochs = 3;
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    const Chain chain = random_chain(GetParam() * 1000 + draw);
    SCOPED_TRACE(chain.text());
    Options base;
    base.seed = GetParam() + draw;
    base.epochs = kEpochs;
    if (draw == 3) base.memory_bytes = 4096;  // Next to nothing: bounds must not change results.
    for (const Options& options : every_way(base)) {
      SCOPED_TRACE(describe(options));
      ChainLoader loader(stream_of(chain), options);
      for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch)
        ASSERT_EQ(loader.rest(), reference(chain, base.seed, epoch)) << "epoch " << epoch;
      EXPECT_FALSE(loader.next());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChain, testing::Range(std::uint64_t{0}, std::uint64_t{40}));

}  // namespace

void PrintTo(const Given& given, std::ostream* out) {
  *out << testing::PrintToString(given.values);
}

}  // namespace weir::test
