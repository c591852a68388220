#include <weir/tuned_file.hpp>

#include <weir/error.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace weir {
namespace {

std::string plain(double value) {
  if (value != 0 && std::abs(value) < 1e6 && std::abs(value) >= 1e-3)
    return fmt::format("{:.6g}", value);
  return fmt::format("{:.6g}", std::isfinite(value) ? value : 0.0);
}

/// One map on one line, key by key; left-out values are not written.
class FlowMap {
 public:
  explicit FlowMap(YAML::Emitter& out) : out_(out) { out_ << YAML::Flow << YAML::BeginMap; }
  ~FlowMap() { out_ << YAML::EndMap; }
  FlowMap(const FlowMap&) = delete;
  FlowMap& operator=(const FlowMap&) = delete;

  void text(const char* key, const std::string& value) {
    if (!value.empty()) out_ << YAML::Key << key << YAML::Value << value;
  }
  void number(const char* key, double value) {
    out_ << YAML::Key << key << YAML::Value << plain(value);
  }
  template <class Number>
  void whole(const char* key, Number value) {
    out_ << YAML::Key << key << YAML::Value << std::to_string(value);
  }
  void number(const char* key, const std::optional<double>& value) {
    if (value) number(key, *value);
  }
  void truth(const char* key, bool value) { out_ << YAML::Key << key << YAML::Value << value; }

 private:
  YAML::Emitter& out_;
};

void emit_stages(YAML::Emitter& out, const TunedFile& file) {
  out << YAML::Key << "stages" << YAML::Value << YAML::BeginMap;
  for (const TunedFile::Stage& stage : file.stages) {
    out << YAML::Key << stage.name << YAML::Value;
    FlowMap map(out);
    if (stage.workers) map.whole("workers", *stage.workers);
    map.number("target", stage.target);
    if (stage.cap) map.whole("cap", *stage.cap);
    if (stage.packet_items) map.whole("packet", *stage.packet_items);
  }
  out << YAML::EndMap;
}

void emit_evidence(YAML::Emitter& out, const TunedFile& file) {
  const TunedFile::Evidence& seen = file.evidence;
  out << YAML::Key << "evidence" << YAML::Value << YAML::BeginMap;
  out << YAML::Key << "consumer" << YAML::Value;
  {
    FlowMap map(out);
    map.number("rate_per_second", seen.consumer_rate_per_second);
    map.number("wait_share", seen.consumer_wait_share);
  }
  out << YAML::Key << "throughput" << YAML::Value;
  {
    FlowMap map(out);
    map.number("items_per_second", seen.items_per_second);
    map.number("bound_shared", seen.bound_shared);
    map.number("bound_whole", seen.bound_whole);
    map.text("label", seen.label);
    map.number("disk_share", seen.disk_share);
  }
  if (seen.host) {
    out << YAML::Key << "host" << YAML::Value;
    FlowMap map(out);
    map.number("cpu_wait_share", seen.host->cpu_wait_share);
    map.number("switches_per_cpu_second", seen.host->switches_per_cpu_second);
    map.number("throttled_share", seen.host->throttled_share);
    map.number("others_cores", seen.host->others_cores);
    map.number("idle_cores", seen.host->idle_cores);
    map.number("cpu_pressure", seen.host->cpu_pressure);
    out << YAML::Key << "contended_shares" << YAML::Value;
    FlowMap by(out);
    for (const auto& [who, share] : seen.host->contended_shares) by.number(who.c_str(), share);
  }
  out << YAML::Key << "stages" << YAML::Value << YAML::BeginMap;
  for (const TunedFile::StageEvidence& stage : seen.stages) {
    out << YAML::Key << stage.name << YAML::Value;
    FlowMap map(out);
    map.number("service_time_us", stage.service_time_us);
    map.number("cv", stage.cv);
    map.whole("samples", stage.samples);
    map.number("visits", stage.visits);
    out << YAML::Key << "levels" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const auto& [running, service_us] : stage.levels)
      out << YAML::Flow << YAML::BeginSeq << plain(running) << plain(service_us) << YAML::EndSeq;
    out << YAML::EndSeq;
    map.whole("bytes_out", stage.bytes_out);
    map.number("blocked_share", stage.blocked_share);
    map.text("hint", stage.hint);
  }
  out << YAML::EndMap << YAML::EndMap;
}

/// A descriptor that is closed, and a temporary file that is removed unless it was kept.
class PendingFile {
 public:
  PendingFile(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  ~PendingFile() {
    if (file_ >= 0) ::close(file_);
    if (!kept_ && !temporary_.empty()) ::unlink(temporary_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  [[noreturn]] void fail(std::string_view doing) const {
    const int reason = errno;
    throw Error(ErrorKind::cannot, path_,
                fmt::format("the tuned file cannot be written ({}): {}; nothing was changed", doing,
                            std::strerror(reason)));
  }
  void open(int flags) {
    const std::string& name = temporary_.empty() ? path_ : temporary_;
    file_ = ::open(name.c_str(), flags | O_WRONLY | O_CLOEXEC, 0644);
    if (file_ < 0) {
      temporary_.clear();  // nothing of ours to remove
      fail("open");
    }
  }
  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(file_, text.data(), text.size());
      if (count < 0 && errno != EINTR) fail("write");
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void sync() {
    if (::fsync(file_) != 0) fail("sync");
  }
  void close() {
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0) fail("close");
  }
  void rename() {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
    kept_ = true;
  }

 private:
  const std::string path_;
  std::string temporary_;
  int file_ = -1;
  bool kept_ = false;
};

}  // namespace

std::string tuned_file_text(const TunedFile& file) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "weir_tuned" << YAML::Value << 1;
  if (file.pipeline) {
    out << YAML::Key << "pipeline" << YAML::Value;
    FlowMap map(out);
    map.text("name", file.pipeline->name);
    map.text("structure", file.pipeline->structure);
  }
  if (file.machine) {
    out << YAML::Key << "machine" << YAML::Value;
    FlowMap map(out);
    map.text("cpu", file.machine->cpu);
    map.whole("threads", file.machine->threads);
    map.whole("cores", file.machine->cores);
    map.whole("nodes", file.machine->nodes);
    map.text("quota", file.machine->quota);
    map.text("memory", file.machine->memory);
    map.text("fingerprint", file.machine->fingerprint);
  }
  out << YAML::Key << "budget" << YAML::Value;
  {
    FlowMap map(out);
    if (file.budget.threads) map.whole("threads", *file.budget.threads);
    if (file.budget.active) map.whole("active", *file.budget.active);
    map.text("memory", file.budget.memory);
    if (file.budget.strict) map.truth("strict", *file.budget.strict);
  }
  emit_stages(out, file);
  out << YAML::Key << "groups" << YAML::Value;
  if (file.groups.empty()) out << YAML::Flow;
  out << YAML::BeginSeq;
  for (const TunedFile::Group& group : file.groups) {
    FlowMap map(out);
    out << YAML::Key << "stages" << YAML::Value << YAML::Flow << group.stages;
    map.whole("workers", group.workers);
  }
  out << YAML::EndSeq;
  out << YAML::Key << "queues" << YAML::Value;
  if (file.queues.empty()) out << YAML::Flow;
  out << YAML::BeginMap;
  for (const TunedFile::Queue& queue : file.queues) {
    out << YAML::Key << queue.stage << YAML::Value;
    FlowMap map(out);
    map.whole("items", queue.items);
  }
  out << YAML::EndMap;
  if (!file.placement_mode.empty()) {
    out << YAML::Key << "placement" << YAML::Value;
    FlowMap map(out);
    map.text("mode", file.placement_mode);
    out << YAML::Key << "workers" << YAML::Value << YAML::Flow << file.placement_workers;
  }
  emit_evidence(out, file);
  if (file.written) {
    out << YAML::Key << "written" << YAML::Value;
    FlowMap map(out);
    map.text("by", file.written->by);
    map.text("policy", file.written->policy);
    map.text("at", file.written->at);
    if (file.written->settled) map.truth("settled", *file.written->settled);
    map.number("seconds", file.written->seconds);
    if (file.written->moves) map.whole("moves", *file.written->moves);
  }
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

void write_tuned_file(const TunedFile& file, const std::string& path) {
  const std::string text = tuned_file_text(file);
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    // A device or a pipe (/dev/stdout) is written to, not replaced.
    PendingFile pipe(path, {});
    pipe.open(0);
    pipe.write(text);
    pipe.close();
    return;
  }
  PendingFile pending(path, fmt::format("{}.tmp.{}", path, ::getpid()));
  pending.open(O_CREAT | O_TRUNC);
  pending.write(text);
  pending.sync();
  pending.close();
  pending.rename();
  // The new name is safe only when the folder is: a crash now must not bring the old file back.
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;  // written, but not to be synced here (no right to read the folder)
  ::fsync(directory);  // some file systems have no sync of folders; the file itself is synced
  ::close(directory);
}

}  // namespace weir
