#include "src/verb.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace weir::program {

std::span<const Verb> verbs() {
  static const std::vector<Verb> table{
      {"run",
       "run a pipeline, untuned, with --autotune, or from a tuned file",
       {"PIPELINE.yaml"},
       run_verb},
      {"tune",
       "run until the split has settled, write the tuned file, say what was gained",
       {"PIPELINE.yaml"},
       tune_verb},
      {"check",
       "load and plan a pipeline, print the stages; run nothing",
       {"PIPELINE.yaml"},
       check_verb},
      {"preview",
       "a contact sheet of the first samples with their labels",
       {"PIPELINE.yaml"},
       preview_verb},
      {"scan",
       "find every bad file of a folder or a pipeline before a training does",
       {"DIR|PIPELINE.yaml"},
       scan_verb,
       "Examples:\n"
       "  weir scan photos                        decode everything, list what is bad and odd\n"
       "  weir scan photos --quick                look at headers alone\n"
       "  weir scan train.yaml --data /photos     by the rules of the pipeline's own decode\n"
       "  weir scan photos --duplicates --json | jq .duplicates\n"
       "  weir scan photos --quarantine bad.txt   and leave them out of runs with\n"
       "                                          - files: {root: photos, quarantine: bad.txt}\n"
       "Exit status 1: bad files were found."},
      {"sim",
       "policies side by side on a simulated machine",
       {"FILE|all", false, true},
       sim_verb,
       "Examples:\n"
       "  weir sim all                                   the suite with the default policy\n"
       "  weir sim all --strict --repeats 3              with whole workers a stage\n"
       "  weir sim skewed_costs --policy all             one of the suite, every policy\n"
       "  weir sim mine.yaml --policy balance,share --plot mine.html\n"
       "  weir sim drift_swap --set dead_band=0.1 --json\n"
       "  weir run train.yaml --autotune --log train.log && weir sim --replay train.log\n"
       "Exit status 1: balance misses a bound that a scenario sets under 'must', or the decisions "
       "of a\n"
       "log are others when they are made again."},
      {"explain",
       "a decision log as a story: what was decided, why, and what came of it",
       {"LOG"},
       explain_verb,
       "Examples:\n"
       "  weir run train.yaml --autotune --log train.log   record what the controller does\n"
       "  weir explain train.log                           read it\n"
       "  weir explain train.log --json                    every event with its figures\n"
       "  weir sim --replay train.log                      decide all of it once more"},
      {"operators",
       "the operators with their parameters, ranges and defaults",
       {"NAME", false},
       operators_verb},
      {"policies",
       "the policies of the controller and their settings",
       {"NAME", false},
       policies_verb},
      {"machine",
       "what is allowed here and why: threads, memory, places of workers; what costs speed",
       {"", false},
       machine_verb},
  };
  return table;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs())
    if (verb.name == name) return &verb;
  return nullptr;
}

bool planned_verb(std::string_view name) {
  constexpr std::array<std::string_view, 1> kPlanned{"diagnose"};
  return std::find(kPlanned.begin(), kPlanned.end(), name) != kPlanned.end();
}

}  // namespace weir::program
