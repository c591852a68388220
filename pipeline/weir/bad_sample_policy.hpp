#pragma once

namespace weir {

/// What happens to a sample that cannot be used, of a run or of one stage.
struct BadSamplePolicy {
  enum class Action {
    fail,     ///< the consumer gets the first failure, in index order, from next()
    skip,     ///< the place is refilled from the stream
    replace,  ///< the stage's `replacement`, or zeros of the batch's shape, flagged in the batch
  };
  Action action = Action::fail;
  double max_count = -1;  ///< more than this many fail the run; negative: no limit
  double max_rate = -1;   ///< likewise as a share, judged after 1,000 samples and at an epoch's end
};

}  // namespace weir
