// The program weir: verbs over the library.

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/error.hpp>
#include <weir/version.hpp>

#include "src/failure_report.hpp"
#include "src/signal_watch.hpp"
#include "src/standard_output.hpp"
#include "src/suggestion.hpp"
#include "src/summary_json.hpp"
#include "src/verb.hpp"

namespace weir::program {
namespace {

std::string usage_text() {
  std::string text = "usage: weir VERB [ARGUMENT] [OPTION...]\n\n";
  for (const Verb& verb : verbs()) {
    std::string argument = verb.argument.name + (verb.argument.several ? "..." : "");
    if (!verb.argument.required && !argument.empty()) argument = "[" + argument + "]";
    text += fmt::format("  {:<24}  {}\n", verb.name + " " + argument, verb.summary);
  }
  text += fmt::format("  {:<24}  {}\n", "help [VERB]", "this text, or a verb's options");
  text += fmt::format("  {:<24}  {}\n", "--version", "the version");
  text +=
      "\nResults go to standard output, everything else to standard error.\n"
      "Exit status: 0 done; 1 the data or a stage failed, scan found bad files, or a bound of sim\n"
      "was missed; 2 wrong usage, configuration or tuned file; 3 not possible here; 128 + n on\n"
      "signal n.\n"
      "Not in this version: diagnose.\n";
  return text;
}

const Verb& verb_named(const std::string& name) {
  if (const Verb* verb = find_verb(name)) return *verb;
  if (planned_verb(name)) throw Error(ErrorKind::usage, name, "not in this version");
  std::vector<std::string> names{"help"};
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  throw Error(ErrorKind::usage, "",
              fmt::format("'{}' is no {}{}", name, name.starts_with("-") ? "option here" : "verb",
                          detail::suggestion(name, names, "Verbs")));
}

int dispatch(const std::vector<std::string>& words, SignalWatch& signals) {
  if (words.empty()) {
    write_notice(usage_text());
    return static_cast<int>(ErrorKind::usage);
  }
  const std::string& first = words.front();
  if (first == "--version" || first == "-V" || first == "version") {
    write_output(fmt::format("weir {}\n", version()));
    return 0;
  }
  if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) {
    write_output(usage_text());
    return 0;
  }
  if (first == "help") {
    if (words.size() > 2) throw Error(ErrorKind::usage, "help", "takes one verb");
    const Verb& verb = verb_named(words[1]);
    write_output(
        CommandLine(verb.name, verb.summary, verb.argument, {"--help"}, verb.examples).help());
    return 0;
  }
  const Verb& verb = verb_named(first);
  const CommandLine line(verb.name, verb.summary, verb.argument,
                         std::vector<std::string>(words.begin() + 1, words.end()), verb.examples);
  if (line.wants_help()) {
    write_output(line.help());
    return 0;
  }
  return verb.run(line, signals);
}

int fail(const Error& error, const std::vector<std::string>& words) {
  const std::string verb =
      !words.empty() && find_verb(words.front()) != nullptr ? words.front() : "";
  report_failure(error, verb);
  // Whoever asked for JSON gets a document, whatever happens.
  if (std::find(words.begin(), words.end(), "--json") != words.end())
    write_output(document_text({{"error", error_json(error)}}));
  return static_cast<int>(error.kind());
}

int run(const std::vector<std::string>& words) {
  try {
    SignalWatch signals;
    try {
      return dispatch(words, signals);
    } catch (const Error& error) {
      return fail(error, words);
    } catch (const std::bad_alloc&) {
      return fail(Error(ErrorKind::cannot, "", "out of memory"), words);
    } catch (const std::exception& error) {
      return fail(Error(ErrorKind::data, "", error.what()), words);
    }
  } catch (const OutputClosed&) {
    // The reader had enough (`| head`): nothing went wrong.
    return 0;
  } catch (const std::exception& error) {
    write_notice(std::string("weir: ") + error.what() + "\n");
    return static_cast<int>(ErrorKind::cannot);
  }
}

}  // namespace
}  // namespace weir::program

int main(int argc, char** argv) {
  weir::program::guard_standard_streams();
  return weir::program::run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
