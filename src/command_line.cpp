#include "src/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <weir/error.hpp>
#include <weir/parameters.hpp>

#include "src/known_elsewhere.hpp"
#include "src/option_table.hpp"

namespace weir::program {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::usage, where, what);
}

/// "--num-workers=4" as "num_workers".
std::string key_of(std::string_view word) {
  word = word.substr(0, word.find('='));
  while (word.starts_with('-')) word.remove_prefix(1);
  std::string key(word);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

[[noreturn]] void refuse_option(const std::string& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const OptionSpec* option : options_of(verb)) names.push_back(option->name);
  std::vector<std::string> others;
  for (const OptionSpec& option : option_table())
    if (option.name == name) others.insert(others.end(), option.verbs.begin(), option.verbs.end());
  if (!others.empty())
    refuse(name, fmt::format("not an option of weir {}; it belongs to {}", verb,
                             fmt::join(others, ", ")));
  const std::string key = key_of(word);
  if (const auto ours = detail::known_elsewhere(key)) {
    const bool workers = ours->find("'workers'") != std::string::npos;
    refuse(name, "unknown option; " + (workers ? std::string("here it is --workers N|auto")
                                               : *ours + " (in the pipeline file)"));
  }
  const auto near = nearest_spelling(name, names);
  refuse(name,
         near ? fmt::format("unknown option; did you mean {}? weir help {} lists all", *near, verb)
              : fmt::format("unknown option. Known: {}", fmt::join(names, ", ")));
}

}  // namespace

CommandLine::CommandLine(const std::string& verb, const std::string& summary,
                         const ArgumentSpec& argument, const std::vector<std::string>& words,
                         const std::string& examples) {
  CLI::App app(summary, "weir " + verb);
  app.allow_extras();
  app.set_help_flag("-h,--help", "this text");
  const CLI::Option* positional = nullptr;
  if (!argument.name.empty())
    positional = app.add_option(argument.name, arguments_)
                     ->type_name("")
                     ->expected(argument.several ? -1 : 1)
                     ->required(argument.required);

  const std::vector<const OptionSpec*> specs = options_of(verb);
  std::map<std::string, std::vector<std::string>> values;
  for (const OptionSpec* spec : specs) {
    std::string meaning = spec->meaning;
    if (spec->later) meaning += "; not in this version";
    if (spec->value_name.empty()) {
      app.add_flag_function(
          spec->name,
          [this, spec](std::int64_t times) {
            if (times != 1) refuse(spec->name, "takes no value, and stands once");
            values_[spec->name] = {"true"};
          },
          meaning);
    } else {
      // Kept as text: the messages about values are this program's own.
      app.add_option(spec->name, values[spec->name], meaning)
          ->type_name(spec->value_name)
          ->expected(1)
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
  app.footer(examples);
  help_ = app.help();

  // CLI11 wants the last word first.
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    wants_help_ = true;
    return;
  } catch (const CLI::RequiredError&) {
    for (const std::string& word : app.remaining())
      if (word.size() > 1 && word.front() == '-') refuse_option(verb, word);
    refuse("", "name a " + argument.name);
  } catch (const CLI::ParseError& error) {
    for (const std::string& word : app.remaining())
      if (word.size() > 1 && word.front() == '-') refuse_option(verb, word);
    if (positional != nullptr && !argument.several && positional->results().size() > 1)
      refuse("", fmt::format("takes one {}, and '{}' is one more", argument.name,
                             positional->results()[1]));
    // What is left is an option whose value is missing, or a flag that was given one.
    for (const OptionSpec* spec : specs) {
      if (std::string(error.what()).find(spec->name) == std::string::npos) continue;
      refuse(spec->name, spec->value_name.empty() ? std::string("takes no value")
                                                  : "needs a value: " + spec->value_name);
    }
    refuse("", error.what());
  }
  for (const std::string& word : app.remaining()) {
    if (word == "--") continue;
    if (word.size() > 1 && word.front() == '-') refuse_option(verb, word);
    refuse("", argument.name.empty()
                   ? fmt::format("takes no argument, and '{}' was given", word)
                   : fmt::format("takes one {}, and '{}' is one more", argument.name, word));
  }
  for (auto& [name, given] : values)
    if (!given.empty()) values_[name] = std::move(given);
  for (const OptionSpec* spec : specs) {
    const auto found = values_.find(spec->name);
    if (found == values_.end()) continue;
    if (found->second.size() > 1 && !spec->repeats)
      refuse(spec->name, fmt::format("was given {} times; give it once", found->second.size()));
    if (spec->later && found->second.front() != "none") refuse(spec->name, "not in this version");
  }
}

const std::string& CommandLine::argument() const {
  static const std::string none;
  return arguments_.empty() ? none : arguments_.front();
}

std::optional<std::string> CommandLine::text(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return std::nullopt;
  return found->second.front();
}

std::vector<std::string> CommandLine::texts(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return {};
  return found->second;
}

void CommandLine::reject(std::string_view option, const std::string& what) const {
  refuse(std::string(option), fmt::format("'{}', must be {}", text(option).value_or(""), what));
}

std::optional<std::uint64_t> CommandLine::count(std::string_view option, std::uint64_t least,
                                                std::uint64_t most) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = given->data() + given->size();
  const auto [stop, error] = std::from_chars(given->data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most)
    reject(option, most == UINT64_MAX ? fmt::format("a whole number of at least {}", least)
                                      : fmt::format("a whole number from {} to {}", least, most));
  return number;
}

std::optional<double> CommandLine::seconds(std::string_view option) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  const std::optional<double> plain = parse_share(*given);  // a number, or with % behind it
  const std::optional<double> seconds =
      plain && given->find('%') == std::string::npos ? plain : parse_duration_seconds(*given);
  if (!seconds || !(*seconds > 0))
    reject(option, "a time above 0: a number of seconds, or with a unit, as 90s or 2min");
  return seconds;
}

std::optional<double> CommandLine::duration(std::string_view option) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  const std::optional<double> seconds = parse_duration_seconds(*given);
  if (!seconds) reject(option, "a time with its unit, as 18ms or 2s");
  return seconds;
}

std::optional<std::size_t> CommandLine::choice(std::string_view option,
                                               const std::vector<std::string>& words) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *given);
  if (found == words.end()) {
    const auto near = nearest_spelling(*given, words);
    reject(option, fmt::format("one of {}{}", fmt::join(words, ", "),
                               near ? "; did you mean " + *near + "?" : ""));
  }
  return static_cast<std::size_t>(found - words.begin());
}

std::map<std::string, std::string> variables_of(const CommandLine& line) {
  std::map<std::string, std::string> variables;
  for (const std::string& assignment : line.texts("--set")) {
    const std::size_t at = assignment.find('=');
    if (at == std::string::npos || at == 0)
      refuse("--set", fmt::format("'{}', must be NAME=VALUE, as size=224", assignment));
    const auto [found, fresh] =
        variables.emplace(assignment.substr(0, at), assignment.substr(at + 1));
    if (!fresh) refuse("--set", fmt::format("'{}' is set twice", found->first));
  }
  if (const auto folder = line.text("--data")) {
    const auto [found, fresh] = variables.emplace("data", *folder);
    if (!fresh) refuse("--data", "is short for --set data=DIR, which was given too");
  }
  return variables;
}

}  // namespace weir::program
