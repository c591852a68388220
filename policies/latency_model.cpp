#include "policies/latency_model.hpp"

#include <cmath>
#include <cstddef>

namespace weir::detail {

double expected_wait_seconds(double producer_seconds, double consumer_seconds, double slots) {
  if (producer_seconds <= 0) return 0;
  if (consumer_seconds <= 0) return producer_seconds;
  if (consumer_seconds == producer_seconds) return producer_seconds / (slots + 1);
  // The chance that the buffer is empty, written with the ratio below 1 so that no power overflows.
  if (consumer_seconds > producer_seconds) {
    const double ratio = producer_seconds / consumer_seconds;
    const double power = std::pow(ratio, slots);
    return producer_seconds * power * (1 - ratio) / (1 - ratio * power);
  }
  const double ratio = consumer_seconds / producer_seconds;
  return producer_seconds * (1 - ratio) / (1 - ratio * std::pow(ratio, slots));
}

double output_seconds(const std::vector<LatencyNode>& line) {
  std::vector<double> between_calls(line.size());  // of one call for this stage's item and the next
  double asked_every = 0;
  for (std::size_t i = line.size(); i-- > 0;) {
    between_calls[i] = asked_every + line[i].work_seconds / line[i].parallelism;
    asked_every = line[i].inputs > 0 ? between_calls[i] / line[i].inputs : between_calls[i];
  }
  double output = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const LatencyNode& node = line[i];
    const double own = node.work_seconds / node.parallelism;
    if (i == 0 || node.inputs <= 0)
      output = own;
    else
      output = own + expected_wait_seconds(node.inputs * output, between_calls[i],
                                           node.parallelism / node.inputs);
  }
  return output;
}

double work_seconds(const std::vector<LatencyNode>& line) {
  double work = 0;
  for (const LatencyNode& node : line) work = node.work_seconds + node.inputs * work;
  return work;
}

}  // namespace weir::detail
