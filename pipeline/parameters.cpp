#include <weir/parameters.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>

namespace weir {
namespace {

using Written = std::map<std::string, Value, std::less<>>;

/// What users of other libraries write, and what we call it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kNamesElsewhere{
    {{"p", "probability"},
     {"prob", "probability"},
     {"num_classes", "classes"},
     {"num_parallel_workers", "workers"},
     {"num_workers", "workers"},
     {"num_parallel_calls", "workers"},
     {"prefetch_size", "queue"},
     {"buffer_size", "buffer"},
     {"batch_size", "size"},
     {"output_size", "size"},
     {"target_size", "size"},
     {"interpolation_mode", "interpolation"},
     {"padding_mode", "mode"},
     {"fill_value", "fill"}}};

/// Keys that stand beside an operator rather than among its parameters.
constexpr std::array<std::string_view, 7> kStageKeys{"name",  "workers",       "cap",    "serial",
                                                     "queue", "on_bad_sample", "columns"};

std::string text_of(const Value& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "nothing"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const {
      constexpr std::size_t kShown = 80;
      return text.size() <= kShown ? "'" + text + "'" : "'" + text.substr(0, kShown) + "...'";
    }
    std::string operator()(const Value::List& list) const {
      std::string text = "[";
      for (std::size_t i = 0; i < list.size() && i < 8; ++i) {
        if (i > 0) text += ", ";
        text += text_of(list[i]);
      }
      return text + (list.size() > 8 ? ", ...]" : "]");
    }
  };
  return std::visit(Visitor{}, value.data);
}

std::string number_text(double number) {
  return std::abs(number) < 1e15 && number == std::floor(number)
             ? fmt::format("{}", static_cast<std::int64_t>(number))
             : fmt::format("{}", number);
}

std::string limits_of(const ParameterSpec& spec) {
  const bool low = spec.low > -1e300;
  const bool high = spec.high < 1e300;
  if (low && high)
    return fmt::format(" from {} to {}", number_text(spec.low), number_text(spec.high));
  if (low) return fmt::format(" of at least {}", number_text(spec.low));
  if (high) return fmt::format(" of at most {}", number_text(spec.high));
  return "";
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// What `spec` allows, as the end of a sentence.
std::string allowed_by(const ParameterSpec& spec) {
  const std::string limits = limits_of(spec);
  switch (spec.type) {
    case ParameterType::flag:
      return "true or false";
    case ParameterType::integer:
      return "a whole number" + limits;
    case ParameterType::number:
      return "a number" + limits;
    case ParameterType::range:
      return "two numbers [low, high], each" + (limits.empty() ? " finite" : limits);
    case ParameterType::numbers:
      return "a number or a list of numbers" + (limits.empty() ? "" : ", each" + limits);
    case ParameterType::text:
      return "a text";
    case ParameterType::choice:
      return "one of " + joined(spec.choices);
    case ParameterType::duration:
      return "a duration with its unit, as 18ms, 2s or 3min";
    case ParameterType::size:
      return "a size, as 8MiB, 2GB or 512";
    case ParameterType::share:
      return "a share" + limits + ", as 1% or 0.01";
  }
  return "";
}

/// A checked value, or why there is none; the reason may be empty.
struct Outcome {
  std::optional<Value> value;
  std::string hint;
};

std::optional<double> number_in(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value.data); number && std::isfinite(*number)) {
    return *number;
  }
  return std::nullopt;
}

bool inside(double number, const ParameterSpec& spec) {
  return number >= spec.low && number <= spec.high;
}

Outcome accept(Value value) { return {std::move(value), ""}; }

Outcome check_numbers(const Value& value, const ParameterSpec& spec) {
  Value::List checked;
  if (const auto* list = std::get_if<Value::List>(&value.data)) {
    for (const Value& entry : *list) {
      const std::optional<double> number = number_in(entry);
      if (!number || !inside(*number, spec)) return {std::nullopt, text_of(entry) + " is not"};
      checked.push_back(Value{*number, entry.location});
    }
  } else if (spec.type == ParameterType::numbers) {
    const std::optional<double> number = number_in(value);
    if (!number || !inside(*number, spec)) return {};
    checked.push_back(Value{*number, value.location});
  }
  if (checked.empty()) return {};
  if (spec.type == ParameterType::range) {
    if (checked.size() != 2)
      return {std::nullopt, fmt::format("it has {} entries", checked.size())};
    if (std::get<double>(checked[0].data) > std::get<double>(checked[1].data)) {
      return {std::nullopt, "the first is larger than the second"};
    }
  }
  return accept(Value{std::move(checked), value.location});
}

Outcome check_number(const Value& value, const ParameterSpec& spec) {
  const auto* text = std::get_if<std::string>(&value.data);
  std::optional<double> number = number_in(value);
  std::string hint;
  switch (spec.type) {
    case ParameterType::duration:
      if (text != nullptr) {
        number = parse_duration_seconds(*text);
      } else if (number && *number != 0.0) {
        hint = "the unit is missing";
        number.reset();
      }
      break;
    case ParameterType::size:
      if (text != nullptr) {
        const std::optional<std::uint64_t> bytes = parse_size_bytes(*text);
        if (bytes) number = static_cast<double>(*bytes);
      } else if (number && *number < 0.0) {
        number.reset();
      }
      break;
    case ParameterType::share:
      if (text != nullptr) number = parse_share(*text);
      break;
    default:
      break;
  }
  if (!number || !inside(*number, spec)) return {std::nullopt, hint};
  return accept(Value{*number, value.location});
}

Outcome check_choice(const Value& value, const ParameterSpec& spec) {
  // Numbers and flags may be choices too, as in `channels: 3`.
  std::string text;
  if (const auto* chosen = std::get_if<std::string>(&value.data)) {
    text = *chosen;
  } else if (!std::holds_alternative<Value::List>(value.data) &&
             !std::holds_alternative<std::monostate>(value.data)) {
    text = text_of(value);
  }
  if (std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end()) {
    return accept(Value{std::move(text), value.location});
  }
  const std::optional<std::string> near = nearest_spelling(text, spec.choices);
  return {std::nullopt, near ? "did you mean " + *near + "?" : ""};
}

Outcome check(const Value& value, const ParameterSpec& spec) {
  switch (spec.type) {
    case ParameterType::flag:
      if (std::holds_alternative<bool>(value.data)) return accept(value);
      return {};
    case ParameterType::integer: {
      const auto* whole = std::get_if<std::int64_t>(&value.data);
      if (whole != nullptr && inside(static_cast<double>(*whole), spec)) return accept(value);
      return {};
    }
    case ParameterType::number:
    case ParameterType::duration:
    case ParameterType::size:
    case ParameterType::share:
      return check_number(value, spec);
    case ParameterType::range:
    case ParameterType::numbers:
      return check_numbers(value, spec);
    case ParameterType::text:
      if (std::holds_alternative<std::string>(value.data)) return accept(value);
      // A text of digits comes as a number where it was written without quotes.
      if (std::holds_alternative<std::int64_t>(value.data)) {
        return accept(Value{text_of(value), value.location});
      }
      return {};
    case ParameterType::choice:
      return check_choice(value, spec);
  }
  return {};
}

/// A default as the value that a reader would have made of it.
Value value_of(std::string_view text, ParameterType type) {
  if (type == ParameterType::range || type == ParameterType::numbers) {
    Value::List list;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of("[], "), text.size());
      if (end > 0) list.push_back(value_of(text.substr(0, end), ParameterType::number));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {std::move(list), {}};
  }
  if (type == ParameterType::flag) return {text == "true", {}};
  const char* const end = text.data() + text.size();
  if (type == ParameterType::integer) {
    std::int64_t whole = 0;
    if (std::from_chars(text.data(), end, whole).ptr == end) return {whole, {}};
  }
  if (type == ParameterType::number) {
    double number = 0.0;
    if (std::from_chars(text.data(), end, number).ptr == end) return {number, {}};
  }
  return {std::string(text), {}};
}

bool says_none(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return std::holds_alternative<std::monostate>(value.data) || (text != nullptr && *text == "none");
}

Error usage_error(const Location& place, const std::string& operator_name,
                  const std::string& what) {
  // Without a place in a file the operator's name is the place.
  if (place.line == 0) return Error(ErrorKind::usage, operator_name, what);
  return Error(ErrorKind::usage, place.text(), operator_name + ": " + what);
}

std::string unknown_key(const std::string& key, std::span<const ParameterSpec> specs) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs) names.push_back(spec.name);
  std::vector<std::string> known = names;
  known.insert(known.end(), kStageKeys.begin(), kStageKeys.end());

  std::optional<std::string> suggestion;
  for (const auto& [elsewhere, ours] : kNamesElsewhere) {
    if (key == elsewhere && std::find(known.begin(), known.end(), ours) != known.end()) {
      suggestion = ours;
    }
  }
  if (!suggestion) suggestion = nearest_spelling(key, known);
  std::string text = fmt::format("unknown key '{}'", key);
  if (suggestion) {
    const bool beside = std::find(names.begin(), names.end(), *suggestion) == names.end();
    text += fmt::format("; did you mean '{}'{}?", *suggestion,
                        beside ? ", which stands beside the operator" : "");
  } else {
    text += ";";
  }
  return text + (names.empty() ? " It takes no parameters" : " Allowed: " + joined(names));
}

}  // namespace

std::string Location::text() const {
  if (line == 0) return file;
  return fmt::format("{}:{}:{}", file, line, column);
}

Parameters::Parameters(std::string operator_name, std::span<const ParameterSpec> specs,
                       const Written& written, const Location& place)
    : operator_name_(std::move(operator_name)), place_(place) {
  for (const auto& [key, value] : written) {
    const bool known =
        std::any_of(specs.begin(), specs.end(),
                    [&name = key](const ParameterSpec& spec) { return spec.name == name; });
    if (known) continue;
    const Location& at = value.location.line > 0 ? value.location : place_;
    throw usage_error(at, operator_name_, unknown_key(key, specs));
  }
  for (const ParameterSpec& spec : specs) {
    Checked& checked = values_[spec.name];
    const auto found = written.find(spec.name);
    const bool choosable =
        std::find(spec.choices.begin(), spec.choices.end(), "none") != spec.choices.end();
    if (found == written.end()) {
      if (spec.fallback.empty()) {
        throw usage_error(place_, operator_name_,
                          fmt::format("'{}' is missing ({}); give {}", spec.name, spec.meaning,
                                      allowed_by(spec)));
      }
      if (spec.fallback == "none" && !choosable) continue;
      Outcome outcome = check(value_of(spec.fallback, spec.type), spec);
      if (!outcome.value) {
        throw usage_error(place_, operator_name_,
                          fmt::format("the default '{}' of '{}' is not {}", spec.fallback,
                                      spec.name, allowed_by(spec)));
      }
      checked.value = std::move(*outcome.value);
      continue;
    }
    checked.written = true;
    checked.value.location = found->second.location;
    if (spec.fallback == "none" && !choosable && says_none(found->second)) continue;
    Outcome outcome = check(found->second, spec);
    if (!outcome.value) {
      const Location& at = found->second.location.line > 0 ? found->second.location : place_;
      std::string what = fmt::format("'{}' is {}, must be {}", spec.name, text_of(found->second),
                                     allowed_by(spec));
      if (!outcome.hint.empty()) what += "; " + outcome.hint;
      throw usage_error(at, operator_name_, what);
    }
    checked.value = std::move(*outcome.value);
  }
}

bool Parameters::has(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(find(name).value.data);
}

bool Parameters::flag(std::string_view name) const { return std::get<bool>(find(name).value.data); }

std::int64_t Parameters::integer(std::string_view name) const {
  const Value& value = find(name).value;
  if (const auto* number = std::get_if<double>(&value.data))
    return static_cast<std::int64_t>(*number);
  return std::get<std::int64_t>(value.data);
}

double Parameters::number(std::string_view name) const {
  const Value& value = find(name).value;
  if (const auto* whole = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*whole);
  return std::get<double>(value.data);
}

std::vector<double> Parameters::numbers(std::string_view name) const {
  std::vector<double> numbers;
  for (const Value& entry : std::get<Value::List>(find(name).value.data)) {
    numbers.push_back(std::get<double>(entry.data));
  }
  return numbers;
}

const std::string& Parameters::text(std::string_view name) const {
  return std::get<std::string>(find(name).value.data);
}

void Parameters::reject(std::string_view name, const std::string& why) const {
  const Checked& checked = find(name);
  const Location& at = checked.value.location.line > 0 ? checked.value.location : place_;
  throw usage_error(at, operator_name_,
                    checked.written
                        ? fmt::format("'{}' is {}: {}", name, text_of(checked.value), why)
                        : fmt::format("'{}': {}", name, why));
}

const Parameters::Checked& Parameters::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw Error(
        ErrorKind::usage, operator_name_,
        fmt::format("the operator asked for a parameter '{}' that it does not declare", name));
  }
  return found->second;
}

}  // namespace weir
