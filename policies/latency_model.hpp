#pragma once

#include <vector>

#include <weir/export.hpp>

namespace weir::detail {

/// One stage as the latency model sees it.
struct LatencyNode {
  double work_seconds = 0;  ///< of one worker, for one item given out
  double inputs = 1;        ///< items taken in for one given out; the first stage has no input
  int parallelism = 1;
};

/// How long the consumer of a line waits for an item, by the analytical model of tf.data.
///
/// Source: tensorflow/core/framework/model.cc (AsyncKnownRatio, Node::ComputeWaitTime), where each
/// stage is a node whose buffer holds as many items as it has workers.
///
/// Algorithm: from the sink to the source, a stage is asked for an item as often as those after it
/// need one, given their own work; from the source to the sink, an item takes a stage its work over
/// its parallelism, and the wait for its input: the time in which the input is made, times the
/// chance that its buffer is empty (an M/M/1/K queue). The consumer itself takes no time, as in
/// tf.data's own loop.
///
/// Simplified: stages are a line, all of them parallel; interleaving is not modelled.
///
/// `line` has the most upstream stage first.
[[nodiscard]] WEIR_EXPORT double output_seconds(const std::vector<LatencyNode>& line);

/// The mean wait of a consumer that takes `consumer_seconds` an item for a producer that takes
/// `producer_seconds`, with room for `slots` items between them.
[[nodiscard]] WEIR_EXPORT double expected_wait_seconds(double producer_seconds,
                                                       double consumer_seconds, double slots);

/// The work of the whole line for one item of the last stage.
[[nodiscard]] WEIR_EXPORT double work_seconds(const std::vector<LatencyNode>& line);

}  // namespace weir::detail
