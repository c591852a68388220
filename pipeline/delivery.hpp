#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/digest.hpp>
#include <weir/mutex.hpp>
#include <weir/position.hpp>
#include <weir/summary.hpp>
#include <weir/telemetry.hpp>

#include "pipeline/counters.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/failure_judge.hpp"
#include "pipeline/gap_history.hpp"
#include "pipeline/stage_plan.hpp"

namespace weir::detail {

/// The consumer's side of one loader: takes slots from the engine in order, judges failures,
/// counts, digests, and knows the position. It makes the engine anew when another epoch is asked
/// for.
///
/// Thread safety: next(), release(), begin_epoch() and position() belong to one consumer; close(),
/// consumer() and fill() may be called from any thread.
class Delivery {
 public:
  struct Settings {
    Engine::Settings engine;
    std::optional<std::uint32_t> epochs;
    std::string quarantine;
    bool digest = false;
    std::optional<Position> resume;
  };
  Delivery(StagePlan plan, WorkerPool& pool, Settings settings);

  /// The next value, or null at the end of an epoch, of the stream, or after close(). Throws Error.
  [[nodiscard]] SlotHeader* next();
  /// The value of next() was moved out.
  void release();
  void begin_epoch(std::uint32_t epoch);
  /// The consumer's mark inside its step: the end of its computation.
  void mark(bool compute_end);
  void close();

  [[nodiscard]] Position position() const;
  [[nodiscard]] ConsumerSnapshot consumer() const;
  /// Fills the consumer's part of a summary.
  void fill(Summary& summary) const;
  // Of the engine, which an epoch that is jumped to replaces. Any thread.

  /// Depth of the queue behind the stage; false: no such stage.
  [[nodiscard]] bool resize_queue(const std::string& stage, std::int64_t items);
  /// The pool's counters and shares, and this loader's place in them.
  [[nodiscard]] WorkerPool::Reading reading() const;
  [[nodiscard]] std::uint64_t placed_rows() const;
  [[nodiscard]] std::uint64_t copied_rows() const;
  [[nodiscard]] std::vector<std::string> without_bytes() const;
  [[nodiscard]] const StagePlan& plan() const { return plan_; }
  /// Why the resume replays an epoch; empty: it does not.
  [[nodiscard]] const std::string& resume_remark() const { return resume_remark_; }

 private:
  void start(std::uint32_t epoch, const std::optional<Position>& resume);
  /// What becomes of a slot that the engine gave.
  enum class Judged {
    give,       ///< hand it over
    epoch_end,  ///< say that the epoch is over
    pass_on,    ///< it holds no value: take the next one
  };
  [[nodiscard]] Judged judge(SlotHeader& slot);
  [[nodiscard]] SlotHeader* next_waiting();
  void deliver(SlotHeader* slot);
  [[nodiscard]] std::shared_ptr<Engine> engine() const;
  void advance(const SampleInfo& info);
  [[nodiscard]] bool ended() const;

  const StagePlan plan_;
  const SlotType* const type_;  ///< of what next() hands over
  WorkerPool& pool_;
  Settings settings_;
  std::string resume_remark_;

  // The consumer's.
  FailureJudge judge_;
  DeliveryDigest digest_;
  Position position_;
  std::uint64_t to_skip_ = 0;  ///< deliveries of a replayed epoch
  bool fresh_ = true;          ///< nothing taken since the start of the epoch or the resume
  bool failed_ = false;
  bool holds_ = false;
  std::uint64_t unrecorded_ = 0;  ///< values handed over without a wait since gaps_ was written

  std::atomic<bool> closed_{false};
  mutable Mutex engine_mutex_;
  /// Replaced by the consumer, under engine_mutex_; so the consumer reads it without. Shared, so
  /// that others ask and close it outside of the lock: closing waits for functions that may ask
  /// too.
  std::shared_ptr<Engine> engine_;

  // Read from other threads.
  Counter<std::uint64_t> handed_over_;
  Counter<std::uint64_t> samples_;
  Counter<std::uint64_t> bad_;
  Counter<std::uint32_t> epochs_done_;
  Counter<std::int64_t> wait_ns_;
  Counter<std::int64_t> first_wait_ns_;
  Counter<std::int64_t> waiting_since_;
  Counter<std::int64_t> service_ns_;
  Counter<double> service_squared_;
  Counter<std::int64_t> returned_;
  Counter<std::int64_t> compute_ns_;  ///< from the return of next() to mark(compute_end)
  Counter<std::uint64_t> marks_;
  Counter<std::int64_t> last_activity_;
  const Nanoseconds started_;
  mutable Mutex history_mutex_;
  GapHistory gaps_ WEIR_GUARDED_BY(history_mutex_);
  std::string digest_text_ WEIR_GUARDED_BY(history_mutex_);
};

}  // namespace weir::detail
