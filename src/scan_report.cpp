#include "src/scan_report.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "pipeline/quarantine_list.hpp"
#include "src/quantity_text.hpp"
#include "src/text_table.hpp"

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

/// Noted files that are shown; --all shows the others too.
constexpr std::size_t kNotedShown = 20;

const char* status_text(ScanStatus status) {
  switch (status) {
    case ScanStatus::ok:
      return "ok";
    case ScanStatus::noted:
      return "noted";
    case ScanStatus::bad:
      break;
  }
  return "bad";
}

/// A name as one harmless line: it must not move the cursor of a terminal.
std::string shown(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text;
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

/// A path for JSON, which has no bytes but UTF-8.
std::pair<std::string, std::string> path_key(const std::string& path) {
  if (is_utf8(path)) return {"path", path};
  std::string digits;
  for (const char c : path) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return {"path_hex", digits};
}

/// "7", "1,596".
std::string whole_text(std::uint64_t count) {
  return count < 10 ? std::to_string(count) : count_text(static_cast<double>(count));
}

std::string files_text(std::uint64_t count) {
  return fmt::format("{} file{}", whole_text(count), count == 1 ? "" : "s");
}

}  // namespace

ScanReport::ScanReport(const FileIndex& index, bool all) : index_(index), all_(all) {}

void ScanReport::add(ScanEntry entry) {
  const bool noted = entry.status == ScanStatus::noted;
  const bool bad = entry.status == ScanStatus::bad;
  ++(bad ? bad_ : noted ? noted_ : ok_);
  bytes_ += entry.bytes;
  const auto count = [&](Tally& tally) {
    ++tally.files;
    tally.noted += noted ? 1 : 0;
    tally.bad += bad ? 1 : 0;
  };
  count(formats_[entry.format == detail::ImageFormat::unknown ? "none"
                                                              : detail::name_of(entry.format)]);
  if (entry.channels > 0) count(channels_[std::to_string(entry.channels)]);
  if (entry.width > 0) {
    const auto longer = static_cast<std::uint64_t>(std::max(entry.width, entry.height));
    ++sizes_[static_cast<std::int64_t>(std::bit_ceil(longer))];
  }
  if (bad) ++reasons_[kind_of_reason(entry.reason)];
  if (entry.content != Hash128{} && entry.bytes > 0)
    contents_[{entry.content.high, entry.content.low}].push_back(entry.file);
  if (all_ || noted || bad) entries_.push_back(std::move(entry));
}

void ScanReport::end(double seconds, std::uint64_t expected, const std::string& quarantine) {
  seconds_ = seconds;
  expected_ = expected;
  quarantine_ = quarantine;
  // Those that a list leaves out of runs come last from the listing.
  std::sort(entries_.begin(), entries_.end(), [this](const ScanEntry& a, const ScanEntry& b) {
    return index_.relative(a.file) < index_.relative(b.file);
  });
}

std::string ScanReport::quarantine_text() const {
  std::string text;
  for (const ScanEntry& entry : entries_)
    if (entry.status == ScanStatus::bad)
      text += detail::quarantine_line(detail::quarantine_key(index_.path(entry.file)), "scan",
                                      entry.reason);
  return text;
}

std::vector<std::vector<std::uint64_t>> ScanReport::duplicates() const {
  std::vector<std::vector<std::uint64_t>> groups;
  for (const auto& [content, files] : contents_)
    if (files.size() > 1) groups.push_back(files);
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::string ScanReport::text(const std::string& name) const {
  const double rate = seconds_ > 0 ? static_cast<double>(files()) / seconds_ : 0;
  std::string text =
      fmt::format("{}: {}, {}, in {:.1f} s ({} a second)\n", name, files_text(files()),
                  bytes_text(bytes_), seconds_, count_text(rate));
  text +=
      fmt::format("{} ok, {} noted, {} bad", whole_text(ok_), whole_text(noted_), whole_text(bad_));
  if (index_.hidden_skipped() > 0)
    text += fmt::format("; {} hidden entries skipped", index_.hidden_skipped());
  text += '\n';
  if (files() < expected_)
    text +=
        fmt::format("Stopped before {} more were looked at.\n", files_text(expected_ - files()));

  TextTable formats({"format", "files", "noted", "bad"});
  for (const auto& [format, tally] : formats_)
    formats.add({format, std::to_string(tally.files), std::to_string(tally.noted),
                 std::to_string(tally.bad)});
  text += "\n" + formats.text();
  if (!sizes_.empty()) {
    TextTable sizes({"longer side", "files"});
    for (const auto& [size, count] : sizes_)
      sizes.add({fmt::format("to {}", size), std::to_string(count)});
    text += "\n" + sizes.text();
  }
  if (!channels_.empty()) {
    TextTable channels({"channels", "files"});
    for (const auto& [count, tally] : channels_) channels.add({count, std::to_string(tally.files)});
    text += "\n" + channels.text();
  }
  if (bad_ > 0) {
    text += "\nbad:";
    for (const auto& [kind, count] : reasons_)
      text += fmt::format("{} {} {}", kind == reasons_.begin()->first ? "" : ",", count, kind);
    text += '\n';
    for (const ScanEntry& entry : entries_)
      if (entry.status == ScanStatus::bad)
        text += fmt::format("  {}: {}\n", shown(std::string(index_.relative(entry.file))),
                            shown(entry.reason));
  }
  if (noted_ > 0) {
    text += "\nnoted:\n";
    std::uint64_t left = noted_;
    for (const ScanEntry& entry : entries_) {
      if (entry.status != ScanStatus::noted) continue;
      if (!all_ && noted_ - left >= kNotedShown) break;
      --left;
      text += fmt::format("  {}: {}\n", shown(std::string(index_.relative(entry.file))),
                          shown(fmt::format("{}", fmt::join(entry.notes, "; "))));
    }
    if (left > 0) text += fmt::format("  and {} more; --all shows them\n", left);
  }
  const std::vector<std::vector<std::uint64_t>> same = duplicates();
  if (!same.empty()) text += "\nof the same content:\n";
  for (const std::vector<std::uint64_t>& files : same) {
    std::vector<std::string> names;
    for (const std::uint64_t file : files)
      names.push_back(shown(std::string(index_.relative(file))));
    text += fmt::format("  {}\n", fmt::join(names, ", "));
  }
  if (!quarantine_.empty() && bad_ > 0)
    text += fmt::format(
        "\nThe bad files are listed in {0}; leave them out with\n"
        "  - files: {{root: ..., quarantine: {0}}}\n",
        quarantine_);
  return text;
}

Json ScanReport::json() const {
  Json formats = Json::object();
  for (const auto& [format, tally] : formats_)
    formats[format] = {{"files", tally.files}, {"noted", tally.noted}, {"bad", tally.bad}};
  Json sizes = Json::object();
  for (const auto& [size, count] : sizes_) sizes[std::to_string(size)] = count;
  Json channels = Json::object();
  for (const auto& [count, tally] : channels_) channels[count] = tally.files;
  Json reasons = Json::object();
  for (const auto& [kind, count] : reasons_) reasons[kind] = count;
  Json entries = Json::array();
  for (const ScanEntry& entry : entries_) {
    const auto [key, path] = path_key(std::string(index_.relative(entry.file)));
    const bool known = entry.format != detail::ImageFormat::unknown;
    Json one = {{key, path}, {"status", status_text(entry.status)}};
    one["format"] = known ? Json(detail::name_of(entry.format)) : Json(nullptr);
    one["width"] = entry.width > 0 ? Json(entry.width) : Json(nullptr);
    one["height"] = entry.height > 0 ? Json(entry.height) : Json(nullptr);
    one["channels"] = entry.channels > 0 ? Json(entry.channels) : Json(nullptr);
    one["bytes"] = entry.bytes;
    one["reason"] = entry.reason.empty() ? Json(nullptr) : Json(entry.reason);
    one["notes"] = entry.notes;
    entries.push_back(std::move(one));
  }
  Json same = Json::array();
  for (const std::vector<std::uint64_t>& files : duplicates()) {
    Json group = Json::array();
    for (const std::uint64_t file : files) group.push_back(index_.relative(file));
    same.push_back(std::move(group));
  }
  return {{"files", files()},
          {"ok", ok_},
          {"noted", noted_},
          {"bad", bad_},
          {"skipped", index_.hidden_skipped()},
          {"stopped", files() < expected_},
          {"bytes", bytes_},
          {"seconds", seconds_},
          {"files_per_second", seconds_ > 0 ? static_cast<double>(files()) / seconds_ : 0},
          {"formats", std::move(formats)},
          {"longer_sides", std::move(sizes)},
          {"channels", std::move(channels)},
          {"reasons", std::move(reasons)},
          {"quarantine", quarantine_.empty() ? Json(nullptr) : Json(quarantine_)},
          {"entries", std::move(entries)},
          {"duplicates", std::move(same)}};
}

}  // namespace weir::program
