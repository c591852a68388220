#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/mutex.hpp>
#include <weir/plant.hpp>
#include <weir/telemetry.hpp>

#include "pipeline/byte_ledger.hpp"
#include "pipeline/choice_recorder.hpp"
#include "pipeline/host_watch.hpp"
#include "pipeline/packet.hpp"
#include "pipeline/stage.hpp"
#include "pipeline/worker_clocks.hpp"

namespace weir::detail {

/// What the pool runs for one loader.
struct LoaderStages {
  std::string name;
  std::vector<Stage*> stages;  ///< upstream first
  std::function<ConsumerSnapshot()> consumer;
  std::function<ReadingSnapshot()> reading;
};

/// The workers of the process: N threads, made once and bound once; all loaders register their
/// stages here. A of the N are unparked. A worker takes one packet after another from the stage
/// that choose() names; nothing else starts or ends a thread, and so the number of running
/// data-plane threads never exceeds N.
///
/// Algorithm: allocation and stages form one immutable Assignment, published by one pointer store
/// and read by a worker between two packets. A worker that finds nothing sleeps; whoever makes a
/// stage runnable wakes the last sleeper. The first A workers are those that may be unparked, since
/// places are planned in order; another parks at its next packet boundary, and no work wakes it.
///
/// Locking: `sleep_mutex_` guards who sleeps and who is parked, and is touched by a working worker
/// only when somebody sleeps; `publish_mutex_` orders changes of the assignment and is never taken
/// by a worker. A replaced assignment is freed when no worker is choosing by it (hazard pointers:
/// Michael, IEEE TPDS 2004).
///
/// Thread safety: all functions from any thread, unless said otherwise.
/// Invariants: 1. A <= the budget <= N; unparked() <= N, and no worker is unparked while unparked()
/// >= A; 2. a stage never starts a packet above its cap; 3. after remove() no worker touches the
/// loader's stages.
class WorkerPool final : public Plant {
 public:
  struct Settings {
    int workers = 1;
    bool threads = true;  ///< false: whoever calls step() is the worker
    std::uint64_t memory_bytes = ~std::uint64_t{0};
    /// Called by each worker thread with its number: at its start; before its first packet, and
    /// again after place_again(), to bind it; at its end.
    std::function<void(int worker)> on_start;
    std::function<void(int worker)> on_place;
    std::function<void(int worker)> on_end;
    Allocation first;     ///< its active, strict, helping and stay_slack are the start of a run
    MachineView machine;  ///< where the host's counters are read
    ChoiceRecorder* choices = nullptr;  ///< hears of each choice; null: nobody does
  };
  explicit WorkerPool(Settings settings);
  ~WorkerPool() override;

  /// Lets workers at the stages; they get the allotments given.
  void add(const LoaderStages* loader, const std::vector<StageAllocation>& allotted)
      WEIR_EXCLUDES(publish_mutex_);
  /// Takes the stages away and waits until no worker is inside; `late` is called once if that takes
  /// more than five seconds.
  void remove(const LoaderStages* loader, const std::function<void()>& late)
      WEIR_EXCLUDES(publish_mutex_);

  /// What the stages of `loader` are allotted now.
  [[nodiscard]] std::vector<StageAllocation> allotted(const LoaderStages* loader) const
      WEIR_EXCLUDES(publish_mutex_);
  /// Everything of one instant, so that stages and shares agree while loaders come and go.
  struct Reading {
    Snapshot snapshot;
    Allocation allocation;
    int loader = -1;  ///< place of the loader that was asked for; -1: it is not here
    int peak_unparked = 0;
  };
  [[nodiscard]] Reading reading(const LoaderStages* loader) const WEIR_EXCLUDES(publish_mutex_);

  // Plant.
  [[nodiscard]] Snapshot snapshot() const override WEIR_EXCLUDES(publish_mutex_);
  [[nodiscard]] Allocation allocation() const override WEIR_EXCLUDES(publish_mutex_);
  [[nodiscard]] bool apply(const Allocation& allocation) override WEIR_EXCLUDES(publish_mutex_);

  /// At most `workers` of the N, and at least one, may be unparked from now on. What was asked for
  /// above that comes back when the budget does.
  void set_budget(int workers) WEIR_EXCLUDES(publish_mutex_);
  /// Has each worker call `on_place` once more before its next packet.
  void place_again() { places_.fetch_add(1, std::memory_order_release); }

  /// To be called after anything but a worker made a stage runnable: the consumer took something, a
  /// depth or bound was raised.
  void work_may_be_ready();

  /// One packet by the calling thread as worker `worker`; false: there was none to be had.
  /// Requires: a pool without threads, and one caller at a time for each worker.
  [[nodiscard]] bool step(int worker);
  /// Takes a place in the stage within its cap and its group's share; false: there is none. begin()
  /// calls it, a test may; whoever entered leaves the stage.
  [[nodiscard]] bool enter(const Allocation& allocation, const std::vector<Stage*>& stages,
                           int stage) WEIR_EXCLUDES(group_mutex_);
  /// The two halves of step(), so that a test may interleave workers: false when nothing was begun.
  [[nodiscard]] bool begin(int worker);
  void end(int worker);

  /// True inside a function of one of the loader's stages.
  [[nodiscard]] static bool this_thread_works_for(const LoaderStages& loader);

  [[nodiscard]] bool threaded() const { return settings_.threads; }
  [[nodiscard]] ByteLedger& ledger() { return ledger_; }
  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }
  [[nodiscard]] int unparked() const { return unparked_.load(std::memory_order_relaxed); }
  /// Unparked workers that found nothing to do.
  [[nodiscard]] int sleeping() const { return sleeping_.load(std::memory_order_relaxed); }
  [[nodiscard]] int peak_unparked() const { return peak_unparked_.load(std::memory_order_relaxed); }

 private:
  struct Assignment {
    std::uint64_t id = 0;  ///< never used again, unlike an address
    Allocation allocation;
    std::vector<Stage*> stages;
    std::vector<const LoaderStages*> loaders;
  };
  struct alignas(64) Worker {
    std::atomic<const Assignment*> reading{nullptr};  ///< not freed while it stands here
    Stage* stage = nullptr;                           ///< of the packet under way
    const Stage* last = nullptr;                      ///< of the one before, for comparison alone
    std::uint64_t last_assignment = 0;                ///< id of the one in which `last_index` holds
    int last_index = -1;
    Packet packet;
    std::vector<StageView> views;
    WorkerClocks clocks;
    std::condition_variable wake;
    bool signalled = false;    ///< under sleep_mutex_
    bool parked = false;       ///< under sleep_mutex_
    std::uint64_t placed = 0;  ///< the worker's own: value of places_ when it was last bound
    std::thread thread;
  };

  void work(int worker);
  void start_parked_or_not(int worker) WEIR_EXCLUDES(sleep_mutex_);
  void sleep(int worker) WEIR_EXCLUDES(sleep_mutex_);
  [[nodiscard]] bool park(int worker) WEIR_EXCLUDES(sleep_mutex_);
  void unpark_up_to_active() WEIR_REQUIRES(sleep_mutex_);
  void count_unparked(int change) WEIR_REQUIRES(sleep_mutex_);
  void wake_one() WEIR_EXCLUDES(sleep_mutex_);
  void wake_if_choosable(Worker& worker);
  /// True when a worker without a past would find a packet.
  [[nodiscard]] static bool look(const Assignment& assignment, std::vector<StageView>& views);
  [[nodiscard]] const Assignment* read(Worker& worker);
  /// Brings what was asked for within what there is.
  void clamp(Assignment& assignment) const WEIR_REQUIRES(publish_mutex_);
  void leave(Stage* stage);
  [[nodiscard]] int last_index(const Assignment& assignment, Worker& worker) const;
  void look_at_clocks(int worker);
  void publish(std::unique_ptr<Assignment> next) WEIR_REQUIRES(publish_mutex_);
  void adjust_depths(const Assignment& assignment) const;
  [[nodiscard]] Snapshot read_all() const WEIR_REQUIRES(publish_mutex_);
  void settle_parking() WEIR_EXCLUDES(sleep_mutex_);
  void stop() WEIR_EXCLUDES(sleep_mutex_);

  const Settings settings_;
  ByteLedger ledger_;
  std::vector<std::unique_ptr<Worker>> workers_;
  /// Held from counting the running workers of a strict group to entering one of its stages.
  Mutex group_mutex_;

  mutable Mutex publish_mutex_;
  std::unique_ptr<const Assignment> owned_ WEIR_GUARDED_BY(publish_mutex_);
  mutable std::vector<StageView> outside_views_ WEIR_GUARDED_BY(publish_mutex_);
  std::uint64_t assignments_ WEIR_GUARDED_BY(publish_mutex_) = 0;
  std::uint64_t structure_ WEIR_GUARDED_BY(publish_mutex_) = 0;
  int budget_ WEIR_GUARDED_BY(publish_mutex_) = 1;
  int wanted_active_ WEIR_GUARDED_BY(publish_mutex_) = 1;  ///< asked for last, before clamping
  mutable HostWatch host_ WEIR_GUARDED_BY(publish_mutex_);
  /// Published by this store: everything in *owned_. Readers announce themselves in
  /// Worker::reading.
  std::atomic<const Assignment*> current_{nullptr};

  mutable Mutex sleep_mutex_;
  std::vector<int> sleepers_
      WEIR_GUARDED_BY(sleep_mutex_);  ///< the last one sleeps longest to come
  std::vector<int> parked_ WEIR_GUARDED_BY(sleep_mutex_);
  mutable double unparked_ns_ WEIR_GUARDED_BY(sleep_mutex_) = 0;
  mutable Nanoseconds unparked_since_ WEIR_GUARDED_BY(sleep_mutex_) = 0;
  std::atomic<int> sleeping_{0};
  std::atomic<int> unparked_{0};
  std::atomic<int> peak_unparked_{0};
  std::atomic<int> active_{1};
  std::atomic<std::uint64_t> places_{1};
  std::atomic<bool> stop_{false};

  Mutex drain_mutex_;
  std::condition_variable drained_;
  std::atomic<int> draining_{0};
};

}  // namespace weir::detail
