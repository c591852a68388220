#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weir/sample_operator.hpp>

namespace weir::test {

/// What a test passes as one item's identity.
struct Item {
  std::uint64_t seed = 1;
  std::uint32_t operator_index = 2;
  std::uint64_t sample_id = 0;
  std::uint32_t epoch = 0;
  std::int32_t label = -1;
  int worker = 0;
};

using Written = std::map<std::string, Value, std::less<>>;

inline Value number(double value) { return {value, {}}; }
inline Value whole(std::int64_t value) { return {value, {}}; }
inline Value text(std::string value) { return {std::move(value), {}}; }
inline Value flag(bool value) { return {value, {}}; }
inline Value list(const std::vector<double>& values) {
  Value::List entries;
  for (const double value : values) entries.push_back(number(value));
  return {std::move(entries), {}};
}

/// Makes an operator the way the reader of pipeline files does.
inline SampleMap make_operator(const std::string& name, const Written& written = {},
                               const std::vector<std::string>& columns = {}) {
  const OperatorSpec* spec = find_operator(name);
  if (spec == nullptr) throw std::logic_error("no operator " + name);
  return spec->make(Parameters(name, spec->parameters, written, {"pipeline.yaml", 3, 5}), columns);
}

inline Sample apply(const SampleMap& map, Sample sample, const Item& item = {}) {
  SampleInfo info;
  info.sample_id = item.sample_id;
  info.source_index = item.sample_id;
  info.epoch = item.epoch;
  info.label = item.label;
  Context context(item.seed, item.operator_index, info, item.worker, {});
  return map(std::move(sample), context);
}

inline Sample sample_of(Tensor image) {
  Sample sample;
  sample.set("image", std::move(image));
  return sample;
}

/// Applies one operator to column `image`.
inline Tensor apply_to_image(const SampleMap& map, const Tensor& image, const Item& item = {}) {
  Sample result = apply(map, sample_of(image.clone()), item);
  return std::move(result["image"]);
}

/// The reason of the BadSample, or the message of the Error, that the call ends with.
template <class Call>
std::string failure_of(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no failure";
}

}  // namespace weir::test
