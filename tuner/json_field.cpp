#include "tuner/json_field.hpp"

#include <weir/error.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weir::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kInfinite = "inf";
constexpr const char* kMinusInfinite = "-inf";
constexpr const char* kNotANumber = "nan";

template <class Whole>
void read_whole(const Json& from, const char* field, Whole& to) {
  using Limits = std::numeric_limits<Whole>;
  if (!from.is_number_integer()) refuse_json(field, "is no whole number");
  bool fits = false;
  if (from.is_number_unsigned())
    fits = from.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
  else if constexpr (std::is_signed_v<Whole>)
    fits = from.get<std::int64_t>() >= static_cast<std::int64_t>(Limits::min());
  if (!fits) refuse_json(field, "is out of range");
  to = from.get<Whole>();
}

}  // namespace

void refuse_json(const char* field, const char* what) {
  throw Error(ErrorKind::usage, "", fmt::format("'{}' {}", field, what));
}

void read_json(const Json& from, const char* field, bool& to) {
  if (!from.is_boolean()) refuse_json(field, "is neither true nor false");
  to = from.get<bool>();
}
void read_json(const Json& from, const char* field, int& to) { read_whole(from, field, to); }
void read_json(const Json& from, const char* field, std::int64_t& to) {
  read_whole(from, field, to);
}
void read_json(const Json& from, const char* field, std::uint64_t& to) {
  read_whole(from, field, to);
}
void read_json(const Json& from, const char* field, std::string& to) {
  if (!from.is_string()) refuse_json(field, "is no text");
  to = from.get<std::string>();
}

void read_json(const Json& from, const char* field, double& to) {
  if (from.is_number())
    to = from.get<double>();
  else if (from == kInfinite)
    to = std::numeric_limits<double>::infinity();
  else if (from == kMinusInfinite)
    to = -std::numeric_limits<double>::infinity();
  else if (from == kNotANumber)
    to = std::numeric_limits<double>::quiet_NaN();
  else
    refuse_json(field, "is no number");
}

Json exact_json(double value) {
  if (std::isnan(value)) return kNotANumber;
  if (std::isinf(value)) return value > 0 ? kInfinite : kMinusInfinite;
  return value;
}

JsonFields::JsonFields(const Json& object, const char* what) : object_(object) {
  if (!object.is_object()) refuse_json(what, "is no object");
}

const Json* JsonFields::find(const char* field) const {
  const auto found = object_.find(field);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const Json* JsonFields::find_object(const char* field) const {
  const Json* const found = find(field);
  if (found != nullptr && !found->is_object()) refuse_json(field, "is no object");
  return found;
}

const Json* JsonFields::find_array(const char* field) const {
  const Json* const found = find(field);
  if (found != nullptr && !found->is_array()) refuse_json(field, "is no list");
  return found;
}

}  // namespace weir::detail
