#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::program {

/// What a verb takes in place of options.
struct ArgumentSpec {
  std::string name;  ///< "PIPELINE.yaml"; empty: the verb takes none
  bool required = true;
  bool several = false;  ///< any number of them
};

/// The words after the verb, sorted out. Values are text still; the functions below read them and
/// throw Error(usage) that names the option, the value and what is allowed.
///
/// **Thread safety**: a value.
class CommandLine {
 public:
  /// Throws Error(usage) for a wrong option, naming the nearest right one, for a missing or doubled
  /// value, a missing argument, one too many, and what is not in this version. `examples` end the
  /// help.
  CommandLine(const std::string& verb, const std::string& summary, const ArgumentSpec& argument,
              const std::vector<std::string>& words, const std::string& examples = {});

  [[nodiscard]] bool wants_help() const { return wants_help_; }
  [[nodiscard]] const std::string& help() const { return help_; }

  [[nodiscard]] const std::string& argument() const;  ///< the first one; empty: not given
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }
  [[nodiscard]] bool has(std::string_view option) const { return values_.contains(option); }
  [[nodiscard]] std::optional<std::string> text(std::string_view option) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view option) const;
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view option, std::uint64_t least,
                                                   std::uint64_t most) const;
  /// A number of seconds, or a duration with its unit.
  [[nodiscard]] std::optional<double> seconds(std::string_view option) const;
  [[nodiscard]] std::optional<double> duration(std::string_view option) const;
  /// One of `words`, by its place.
  [[nodiscard]] std::optional<std::size_t> choice(std::string_view option,
                                                  const std::vector<std::string>& words) const;
  /// Throws Error(usage) for the value of `option`.
  [[noreturn]] void reject(std::string_view option, const std::string& what) const;

 private:
  std::vector<std::string> arguments_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  bool wants_help_ = false;
  std::string help_;
};

/// `variables` of --set and --data. Throws Error(usage).
[[nodiscard]] std::map<std::string, std::string> variables_of(const CommandLine& line);

}  // namespace weir::program
