#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/error.hpp>
#include <weir/parameters.hpp>
#include <weir/policy.hpp>

#include "src/standard_output.hpp"
#include "src/suggestion.hpp"
#include "src/summary_json.hpp"
#include "src/verb.hpp"

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

Json policy_json(const PolicyInfo& policy) {
  Json settings = Json::array();
  for (const SettingInfo& setting : policy.settings)
    settings.push_back({{"name", setting.name},
                        {"default", setting.text(setting.default_value)},
                        {"least", setting.text(setting.least)},
                        {"most", setting.text(setting.most)},
                        {"meaning", setting.meaning}});
  return {{"name", policy.name}, {"summary", policy.summary}, {"settings", std::move(settings)}};
}

bool has(const PolicyInfo& policy, std::string_view setting) {
  return std::any_of(policy.settings.begin(), policy.settings.end(),
                     [&](const SettingInfo& own) { return own.name == setting; });
}

/// Of windows, estimates and labels: every policy looks in the same way.
bool is_of_looking(const SettingInfo& setting) {
  return std::all_of(policies().begin(), policies().end(),
                     [&](const PolicyInfo& policy) { return has(policy, setting.name); });
}

std::string rows(const std::vector<SettingInfo>& settings, std::size_t width) {
  std::string text;
  for (const SettingInfo& setting : settings)
    text += fmt::format("  {:<{}}  = {:<8} {} ({} to {})\n", setting.name, width,
                        setting.text(setting.default_value), setting.meaning,
                        setting.text(setting.least), setting.text(setting.most));
  return text;
}

std::string policy_text(const PolicyInfo& policy) {
  std::string text = fmt::format("{}: {}\n", policy.name, policy.summary);
  if (policy.settings.empty()) return text + "It has no settings.\n";
  std::size_t width = 0;
  std::vector<SettingInfo> own;
  std::vector<SettingInfo> looking;
  for (const SettingInfo& setting : policy.settings) {
    width = std::max(width, setting.name.size());
    (is_of_looking(setting) ? looking : own).push_back(setting);
  }
  text += own.empty() ? "It decides nothing by a setting.\n" : "\n" + rows(own, width);
  if (!looking.empty())
    text += "\nHow it looks, as every policy does: windows, estimates and labels\n" +
            rows(looking, width);
  return text + "\nThey are set under tuning: settings: in a pipeline file.\n";
}

}  // namespace

int policies_verb(const CommandLine& line, SignalWatch&) {
  const std::string& name = line.argument();
  if (name.empty()) {
    if (line.has("--json")) {
      Json document = Json::array();
      for (const PolicyInfo& policy : policies()) document.push_back(policy_json(policy));
      write_output(document_text(document));
      return 0;
    }
    std::size_t width = 0;
    for (const PolicyInfo& policy : policies()) width = std::max(width, policy.name.size());
    std::string text;
    for (const PolicyInfo& policy : policies())
      text += fmt::format("{:<{}}  {}\n", policy.name, width, policy.summary);
    write_output(text + "\nweir policies NAME shows the settings.\n");
    return 0;
  }
  std::vector<std::string> names;
  for (const PolicyInfo& policy : policies()) {
    names.emplace_back(policy.name);
    if (policy.name != name) continue;
    write_output(line.has("--json") ? document_text(policy_json(policy)) : policy_text(policy));
    return 0;
  }
  throw Error(ErrorKind::usage, "",
              fmt::format("no policy '{}'{}", name, detail::suggestion(name, names, "Known")));
}

}  // namespace weir::program
