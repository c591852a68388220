#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/buffer.hpp>
#include <weir/file.hpp>
#include <weir/mutex.hpp>

#include "machine/thread_usage.hpp"
#include "pipeline/look_ahead.hpp"
#include "pipeline/look_ahead_window.hpp"
#include "pipeline/storage.hpp"

namespace weir::detail {

/// Reads the files of one run: opens each ahead of its read and keeps it open until then, asks for
/// its bytes by a hint or through a ring, and counts where they came from.
///
/// **Algorithm**: `pread` behind WILLNEED hints is the way; LookAheadWindow says how many files
/// ahead. With Reader::automatic, where files keep coming late and a longer window is of no use,
/// rings are tried, and kept if the waits become clearly shorter. A ring reads into buffers that
/// the run's bytes are charged with; a file that finds no room there is hinted.
///
/// **Sampling**: the disk's share of a file is what the thread's io counters grow by at its hint,
/// where the kernel charges it, or at a read that has to wait. A reading costs about 2 us, so as
/// long as everything comes from the page cache each thread takes one every 2 ms, and one a file
/// from the first that the disk gave until 32 in a row came from the cache.
///
/// **Thread safety**: all functions from any thread. No lock is taken for a file, but for a ring's.
///
/// **Invariants**: 1. a slot belongs to whoever set `used`, until he clears it; 2. no buffer is let
/// go while the kernel may write into it.
class FileReader final : public LookAhead, public std::enable_shared_from_this<FileReader> {
 public:
  FileReader(std::shared_ptr<const FileIndex> index, std::shared_ptr<Storage> storage,
             LookAheadSettings settings);
  ~FileReader() override;

  [[nodiscard]] std::uint32_t window() const override {
    return window_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t most() const override { return LookAheadWindow::kMost; }
  void begin_hints() override;
  [[nodiscard]] int hint(std::uint64_t sample_id) override;
  void forget(int ticket) override;
  void make(std::uint64_t sample_id, int ticket, SlotHeader* out) override;
  [[nodiscard]] ReadingSnapshot snapshot() const override;

  /// The whole file of `path`, whose ticket it was if it is not kNoTicket. Throws as
  /// Path::read().
  [[nodiscard]] Buffer read(const Path& path, int ticket);

 private:
  struct Slot;

  [[nodiscard]] int take_slot();
  void free_slot(Slot& slot);
  [[nodiscard]] bool start_in_ring(Slot& slot);
  void measure_hint(Slot& slot);
  [[nodiscard]] Buffer read_hinted(Slot& slot);
  [[nodiscard]] Buffer read_from(int descriptor, const Slot* slot);
  /// Reads on, and waits for what is not there yet. `told`: the file system has said that it is
  /// not.
  [[nodiscard]] std::size_t wait_for(int descriptor, Buffer& buffer, std::size_t filled,
                                     std::size_t size, bool told, const Slot* slot);
  void count(std::uint64_t bytes);
  /// What this thread was charged with so far, if it is time to look.
  [[nodiscard]] std::optional<ThreadIo> read_io_if_due();
  /// Counts what the disk gave for one file since `before`; returns the new reading.
  ThreadIo count_disk_since(const ThreadIo& before);
  void count_wait(const Slot* slot, std::int64_t began, std::int64_t ended);
  void tune();
  void choose_backend() WEIR_REQUIRES(tuning_);
  [[nodiscard]] bool open_rings() WEIR_REQUIRES(tuning_);
  void bound_descriptors();
  void say(const std::string& text) const;

  // Set at construction.
  const std::shared_ptr<const FileIndex> index_;
  const std::shared_ptr<Storage> storage_;
  const LookAheadSettings settings_;
  const std::vector<std::unique_ptr<Slot>> slots_;

  // Atomic because every worker reads or adds to them; they publish nothing but themselves.
  std::atomic<std::uint32_t> window_{LookAheadWindow::kLeast};
  std::atomic<std::uint32_t> most_open_{LookAheadWindow::kMost};
  std::atomic<bool> cached_reads_{true};  ///< the file system can tell what is cached
  std::atomic<bool> source_known_{true};
  alignas(64) std::atomic<std::uint32_t> next_slot_{0};
  std::atomic<std::uint32_t> open_{0};
  std::atomic<std::uint32_t> peak_open_{0};
  std::atomic<std::uint64_t> ring_bytes_{0};
  alignas(64) std::atomic<std::uint64_t> files_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> disk_files_{0};
  std::atomic<std::uint64_t> disk_bytes_{0};
  std::atomic<std::uint64_t> late_files_{0};
  std::atomic<std::int64_t> hidden_ns_{0};
  std::atomic<std::int64_t> waited_ns_{0};

  // The rings, made once and then only read: released by `in_rings_`.
  std::vector<std::unique_ptr<ReadRing>> rings_;
  std::atomic<bool> in_rings_{false};

  Mutex tuning_;
  LookAheadWindow tuner_ WEIR_GUARDED_BY(tuning_);
  LookAheadWindow::Round seen_ WEIR_GUARDED_BY(tuning_);  ///< all that tuner_ was told, summed
  bool rings_are_out_ WEIR_GUARDED_BY(tuning_) = false;   ///< refused, or tried and of no use
  bool on_trial_ WEIR_GUARDED_BY(tuning_) = false;
  std::uint64_t trial_began_ WEIR_GUARDED_BY(tuning_) = 0;
  double waited_before_trial_ WEIR_GUARDED_BY(tuning_) = 0;
};

}  // namespace weir::detail
