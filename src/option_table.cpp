#include "src/option_table.hpp"

#include <algorithm>

namespace weir::program {
namespace {

std::vector<OptionSpec> make_table() {
  const std::vector<std::string> files{"run", "tune", "check", "preview"};
  const std::vector<std::string> data{"run", "tune", "check", "preview", "scan"};
  const std::vector<std::string> machine{"run", "tune", "check", "scan"};
  const std::vector<std::string> scan{"scan"};
  const std::vector<std::string> plans{"run", "tune", "check"};
  const std::vector<std::string> runs{"run", "tune"};
  const std::vector<std::string> pins{"run", "tune", "machine"};
  const std::vector<std::string> run{"run"};
  const std::vector<std::string> preview{"preview"};
  const std::vector<std::string> sim{"sim"};
  const std::vector<std::string> quiet{"run", "tune", "check", "preview", "scan", "sim"};
  const std::vector<std::string> tables{"run",       "tune",     "check", "preview",
                                        "operators", "policies", "sim",   "machine"};
  return {
      {"--data", "DIR", "short for --set data=DIR", data},
      {"--set", "NAME=VALUE", "a variable of the file", data, true},
      {"--workers", "N|auto", "threads for all stages together", machine},
      {"--oversubscribe", "", "allow more workers than the machine's budget, for emulation",
       machine},
      {"--memory", "SIZE|auto", "most bytes held by the pipeline, as 2GiB", machine},
      {"--epochs", "E", "end after so many epochs (run: 1 unless another end is given)", runs},
      {"--steps", "S", "end after so many batches", runs},
      {"--seconds", "T", "end after this time (tune: 60)", runs},
      {"--seed", "S", "another order and other random draws", {"run", "tune", "check", "preview"}},
      {"--policy", "NAME", "of the controller, see weir policies", runs},
      {"--autotune", "", "let the controller move workers", {"run", "check"}},
      {"--strict", "", "whole workers a stage, no helping", plans},
      {"--tuned", "FILE", "start from a tuned file (check: say what it would do)", plans},
      {"--tuned-mismatch", "refuse|ignore", "what to do with another pipeline's tuned file", plans},
      {"--emit", "FILE", "write the tuned file (tune: NAME.tuned.yaml)", runs},
      {"--order", "input|any", "any: batches as samples are done", plans},
      {"--fuse", "auto|all|off", "which operators become one stage", plans},
      {"--image-path", "auto|plain", "plain: the reference operators alone", files},
      {"--inline", "", "everything on one thread, for debugging", run},
      {"--step-time", "TIME", "length of the emulated consumer's step, as 18ms", runs},
      {"--digest", "", "digest what is delivered", run},
      {"--save-position", "FILE", "write where the run ended", run},
      {"--resume", "FILE", "go on from a saved position", run},
      {"--log", "FILE", "decision log, JSON lines", {"run", "tune", "sim"}},
      {"--quarantine", "FILE|none", "list of the bad samples (NAME.quarantine.txt)", runs},
      {"--quick", "", "headers alone, no picture is decoded", scan},
      {"--duplicates", "", "find files of the same content", scan},
      {"--all", "", "show every file, not only what is bad or noted", scan},
      {"--quarantine", "FILE|none", "list of the bad files (NAME.quarantine.txt)", scan},
      {"--reader", "auto|pread|io_uring", "how files are read (auto)", runs},
      {"--cold", "", "drop the data set's pages from the cache first", runs},
      {"--count", "N", "how many samples (16)", preview},
      {"--out", "FILE.png", "where the sheet goes (NAME.preview.png)", preview},
      {"--policy", "A,B,...|all", "side by side, see weir policies (balance)", sim},
      {"--strict", "", "whole workers a stage in every scenario", sim},
      {"--set", "NAME=VALUE", "a setting of the policies that have it", sim, true},
      {"--repeats", "R", "runs of each with other seeds (as the scenario says: 10)", sim},
      {"--seed", "S", "of the first repeat", sim},
      {"--scenarios", "DIR", "where 'all' and names are looked up", sim},
      {"--plot", "FILE.html", "rate and workers over time, as one page", sim},
      {"--live", "", "on the live runtime: timed waits stand in for the work", sim},
      {"--replay", "LOG", "make the decisions of a decision log again, and compare", sim},
      {"--progress", "auto|always|never", "the line on standard error", {"run", "tune", "scan"}},
      {"--quiet", "", "results alone, no progress and no remarks", quiet},
      {"--json", "", "one JSON document on standard output", tables},
      {"--json", "", "one JSON document on standard output", {"explain", "scan"}},
      {"--headroom", "", "replay cached batches", {"diagnose"}, false, true},
      {"--pin", "none|cache_domain|core|node", "what workers are bound to (cache_domain)", pins},
      {"--device", "none|host|cuda|auto[:INDEX]", "where batches go (none)", runs, false, true},
      {"--serve", "[ADDR:]PORT", "a live page", runs, false, true},
      {"--report", "FILE.html", "a report", runs, false, true},
      {"--trace", "FILE.json", "a trace", runs, false, true},
  };
}

}  // namespace

std::span<const OptionSpec> option_table() {
  static const std::vector<OptionSpec> table = make_table();
  return table;
}

std::vector<const OptionSpec*> options_of(std::string_view verb) {
  std::vector<const OptionSpec*> options;
  for (const OptionSpec& option : option_table())
    if (std::find(option.verbs.begin(), option.verbs.end(), verb) != option.verbs.end())
      options.push_back(&option);
  return options;
}

}  // namespace weir::program
