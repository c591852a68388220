#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/export.hpp>
#include <weir/host_figures.hpp>

namespace weir {

/// Which pipeline settings were found for: a hash over its stages and what changes their cost.
struct PipelineIdentity {
  std::string name;
  std::string structure;
};

/// Which machine they were found on. Equal fingerprints mean the same machine.
struct MachineIdentity {
  std::string cpu;
  int threads = 0;
  int cores = 0;
  int nodes = 0;
  std::string quota = "none";
  std::string memory;
  std::string fingerprint;
};

/// The file of tuned settings, as a value. What a person left out is std::nullopt or empty.
struct TunedFile {
  struct Budget {
    std::optional<int> threads;
    std::optional<int> active;
    std::string memory;  ///< as written, with its unit
    std::optional<bool> strict;
  };
  struct Stage {
    std::string name;
    std::optional<int> workers;
    std::optional<double> target;
    std::optional<int> cap;
    std::optional<std::int64_t> packet_items;
  };
  struct Group {
    std::vector<std::string> stages;
    int workers = 1;
  };
  struct Queue {
    std::string stage;
    std::int64_t items = 0;
  };
  struct StageEvidence {
    std::string name;
    double service_time_us = 0;
    double cv = 0;
    std::uint64_t samples = 0;
    double visits = 1;
    std::vector<std::pair<double, double>> levels;  ///< running workers, service time in us
    std::uint64_t bytes_out = 0;
    /// Of its workers' time, neither on a CPU nor waiting for one.
    std::optional<double> blocked_share = {};
    std::string hint = {};  ///< locks or allocator; empty: nothing odd
  };
  struct Evidence {
    std::optional<double> consumer_rate_per_second;
    std::optional<double> consumer_wait_share;
    std::optional<double> items_per_second;
    std::optional<double> bound_shared;
    std::optional<double> bound_whole;
    std::string label;
    std::optional<double> disk_share;
    std::optional<HostFigures> host;  ///< over the whole run
    std::vector<StageEvidence> stages;
  };
  struct Written {
    std::string by;
    std::string policy;
    std::string at;
    std::optional<bool> settled;
    std::optional<double> seconds;
    std::optional<int> moves;
  };

  std::string path;  ///< where it was read from; for messages
  std::optional<PipelineIdentity> pipeline;
  std::optional<MachineIdentity> machine;
  Budget budget;
  std::vector<Stage> stages;
  std::vector<Group> groups;
  std::vector<Queue> queues;
  std::string placement_mode;
  std::vector<std::string> placement_workers;
  Evidence evidence;
  std::optional<Written> written;
};

/// Reads `path`. Throws Error (usage) with file:line:column when the file is missing, truncated,
/// not YAML, or has an unknown key or a value of the wrong type.
[[nodiscard]] WEIR_EXPORT TunedFile read_tuned_file(const std::string& path);
/// The same from text; `path` is for messages.
[[nodiscard]] WEIR_EXPORT TunedFile parse_tuned_file(const std::string& text,
                                                     const std::string& path);
/// The YAML text of `file`.
[[nodiscard]] WEIR_EXPORT std::string tuned_file_text(const TunedFile& file);
/// Writes `file` to `path` whole or not at all: temporary file, sync, rename, sync of the folder.
/// Throws Error (cannot) with the path and the system's reason; `path` is then as it was.
WEIR_EXPORT void write_tuned_file(const TunedFile& file, const std::string& path);

}  // namespace weir
