#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace weir::detail {

/// Typed values out of JSON that somebody else may have written. Each throws Error (usage) that
/// names the field and what is wrong with it; the place in the file is the caller's to add.
void read_json(const nlohmann::ordered_json& from, const char* field, bool& to);
void read_json(const nlohmann::ordered_json& from, const char* field, int& to);
void read_json(const nlohmann::ordered_json& from, const char* field, std::int64_t& to);
void read_json(const nlohmann::ordered_json& from, const char* field, std::uint64_t& to);
void read_json(const nlohmann::ordered_json& from, const char* field, std::string& to);
/// JSON has neither infinities nor not-a-number: they are the texts "inf", "-inf" and "nan".
void read_json(const nlohmann::ordered_json& from, const char* field, double& to);
[[nodiscard]] nlohmann::ordered_json exact_json(double value);

/// The error that they throw.
[[noreturn]] void refuse_json(const char* field, const char* what);

/// Reads the members of an object; what is missing or null keeps its value.
class JsonFields {
 public:
  /// Throws when `object` is none.
  JsonFields(const nlohmann::ordered_json& object, const char* what);
  template <class Value>
  void operator()(const char* field, Value& to) const {
    if (const nlohmann::ordered_json* const from = find(field)) read_json(*from, field, to);
  }
  /// Null: it is not there.
  [[nodiscard]] const nlohmann::ordered_json* find(const char* field) const;
  [[nodiscard]] const nlohmann::ordered_json* find_object(const char* field) const;
  [[nodiscard]] const nlohmann::ordered_json* find_array(const char* field) const;

 private:
  const nlohmann::ordered_json& object_;
};

}  // namespace weir::detail
