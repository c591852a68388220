#include "src/known_elsewhere.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::detail {
namespace {

constexpr std::string_view kWorkers =
    "here it is 'workers', under 'run:' for the whole pipeline or beside an operator for one stage";
constexpr std::string_view kQueue =
    "here it is 'queue' beside an operator, or the operator 'prefetch: {batches: 4}'";

constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kKeys{{
    {"num_parallel_workers", kWorkers},
    {"num_workers", kWorkers},
    {"num_parallel_calls", kWorkers},
    {"num_threads", kWorkers},
    {"threads", kWorkers},
    {"prefetch_size", kQueue},
    {"prefetch_factor", kQueue},
    {"prefetch_buffer_size", kQueue},
    {"prefetch_queue_depth", kQueue},
    {"buffer_size",
     "here it is 'shuffle: {buffer: 1000}' for shuffling, or 'queue' beside an operator for the "
     "depth of its queue"},
    {"batch_size", "here it is the operator 'batch: {size: 32}'"},
    {"drop_last", "here it is 'drop_remainder' of the operator 'batch'"},
    {"num_epochs", "here it is 'epochs', under 'run:'"},
    {"max_epochs", "here it is 'epochs', under 'run:'"},
    {"max_workers", "here it is 'cap' beside an operator"},
    {"input_columns", "here it is 'columns' beside an operator"},
    {"num_shards", "here it is the operator 'shard: {rank: auto, world: auto}'"},
}};

constexpr std::array<std::string_view, 6> kPlanned{"cache", "lmdb",     "packed",
                                                   "tar",   "tfrecord", "copy_to_device"};

}  // namespace

std::optional<std::string> known_elsewhere(std::string_view key) {
  for (const auto& [elsewhere, here] : kKeys)
    if (elsewhere == key) return std::string(here);
  return std::nullopt;
}

bool planned_operator(std::string_view name) {
  return std::find(kPlanned.begin(), kPlanned.end(), name) != kPlanned.end();
}

}  // namespace weir::detail
