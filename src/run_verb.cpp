#include <nlohmann/json.hpp>

#include "src/failure_report.hpp"
#include "src/run_session.hpp"
#include "src/run_settings.hpp"
#include "src/standard_output.hpp"
#include "src/summary_json.hpp"
#include "src/summary_table.hpp"
#include "src/verb.hpp"

namespace weir::program {

int run_verb(const CommandLine& line, SignalWatch& signals) {
  const RunSettings settings = run_settings(line, "run");
  const SessionEnd end = run_session(settings, settings.pipeline.options, signals);
  if (end.error) report_failure(*end.error, "run");
  if (settings.json) {
    nlohmann::ordered_json document = summary_json(end.summary);
    if (end.error) document["error"] = error_json(*end.error);
    if (signals.signal() != 0) document["signal"] = signals.signal();
    write_output(document_text(document));
  } else {
    write_output(summary_text(end.summary));
  }
  return exit_status(end.error, signals.signal());
}

}  // namespace weir::program
