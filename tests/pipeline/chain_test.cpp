#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipeline/chain_run.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

class RandomChain : public testing::TestWithParam<std::uint64_t> {};

// Whatever operators are put together: each way to run them gives what reading them one after
// another, epoch by epoch, gives.
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

/// The number of values that loader.batches_per_epoch() names.
class ChainLength : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ChainLength, IsKnownBeforehandOrBounded) {
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    const Chain chain = random_chain(GetParam() * 1'000'000 + draw);
    SCOPED_TRACE(chain.text());
    Options options;
    options.run_inline = true;
    options.epochs = 1;
    const ChainStream stream = stream_of(chain);
    const detail::LoaderBase::EpochSize size = std::visit(
        [&options](const auto& typed) { return typed.start(options).batches_per_epoch(); }, stream);
    const std::uint64_t given = reference(chain, 0, 0).size();
    if (!size.batches) continue;
    if (size.exact)
      EXPECT_EQ(*size.batches, given);
    else
      EXPECT_GE(*size.batches, given);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChainLength, testing::Range(std::uint64_t{0}, std::uint64_t{5}));

}  // namespace
}  // namespace weir::test
