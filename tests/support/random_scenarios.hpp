#pragma once

#include <cstdint>

#include "tuner/scenario.hpp"

namespace weir::test {

/// Number `index` of the random pipelines: 2 to 20 stages, costs over two decades, 2 to 256 workers
/// (both evenly by their logarithms), in 30 % one stage that is serial, limited by a device of its
/// own, or slower the more workers it has. The same arguments give the same scenario.
///
/// It runs for 20 s or more: so long that 3000 items come through, for little noise of counting,
/// and ten times what all queues hold, since a line that empties full queues is faster than it can
/// be.
[[nodiscard]] detail::Scenario random_scenario(std::uint64_t seed, int index);

}  // namespace weir::test
