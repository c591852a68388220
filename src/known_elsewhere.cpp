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

/// In small letters without underscores, so that RandomEqualize and random_equalize are the same.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kOperators{{
    {"randomequalize", "equalize: {probability: 0.5}"},
    {"randominvert", "invert: {probability: 0.5}"},
    {"randomautocontrast", "autocontrast: {probability: 0.5}"},
    {"randomposterize", "posterize: {bits: 4, probability: 0.5}"},
    {"randomsolarize", "solarize: {threshold: 128, probability: 0.5}"},
    {"randomadjustsharpness", "adjust_sharpness: {factor: 2, probability: 0.5}"},
    {"randomsharpness", "adjust_sharpness: {factor: 2, probability: 0.5}"},
    {"randomcoloradjust", "color_jitter: {brightness: 0.4}"},
    {"grayscale", "random_grayscale: {probability: 1}"},
    {"hwc2chw", "hwc_to_chw: {}"},
    {"totensor", "to_float: {}, and hwc_to_chw: {}"},
    {"piltotensor", "hwc_to_chw: {}"},
    {"rescale", "to_float: {}"},
    {"totype", "convert_dtype: {dtype: f32}"},
    {"typecast", "convert_dtype: {dtype: f32}"},
    {"todtype", "convert_dtype: {dtype: f32}"},
    {"convertimagedtype", "convert_dtype: {dtype: f32}"},
    {"mixupbatch", "mixup: {}, behind batch"},
    {"cutmixbatch", "cutmix: {}, behind batch"},
    {"randomapply", "'probability' of the operator itself"},
    {"paddedbatch", "batch: {size: 32, pad: true}"},
    {"imagefolder", "files: {root: photos, labels: parent_folder}"},
    {"imagefolderdataset", "files: {root: photos, labels: parent_folder}"},
    {"map", "the operator's own name, as - decode: {}; functions are for the C++ library"},
}};

constexpr std::array<std::string_view, 6> kPlanned{"cache", "lmdb",     "packed",
                                                   "tar",   "tfrecord", "copy_to_device"};

}  // namespace

std::optional<std::string> known_elsewhere(std::string_view key) {
  for (const auto& [elsewhere, here] : kKeys)
    if (elsewhere == key) return std::string(here);
  return std::nullopt;
}

std::optional<std::string> operator_elsewhere(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [elsewhere, here] : kOperators)
    if (elsewhere == plain) return "here it is " + std::string(here);
  return std::nullopt;
}

bool planned_operator(std::string_view name) {
  return std::find(kPlanned.begin(), kPlanned.end(), name) != kPlanned.end();
}

}  // namespace weir::detail
