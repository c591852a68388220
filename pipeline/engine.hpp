#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <weir/position.hpp>

#include "pipeline/batch_arena.hpp"
#include "pipeline/sink_edge.hpp"
#include "pipeline/source_inlet.hpp"
#include "pipeline/stage.hpp"
#include "pipeline/stage_plan.hpp"
#include "pipeline/worker_pool.hpp"

namespace weir::detail {

class UnfoldEdge;

/// One plan, running on the pool: it owns the edges, the stages and the batches' memory.
///
/// Thread safety: take() and give_back() belong to one consumer; close() may be called from any
/// thread and more than once; everything else from any thread. Invariants: after close() has
/// returned no worker is inside, and no user function is called.
class Engine {
 public:
  struct Settings {
    std::string name;
    std::uint64_t seed = 0;
    bool any_order = false;
    BadSamplePolicy on_bad_sample;
    std::uint32_t first_epoch = 0;
    std::optional<std::uint32_t> end_epoch;
    std::optional<Position> resume;         ///< of an exact resume; begins in its epoch
    std::vector<StageAllocation> allotted;  ///< one a stage; empty: even
    Reader reader = Reader::automatic;
    std::function<ConsumerSnapshot()> consumer;
    std::function<void(const std::string&)> say;  ///< a message for the user, from any thread
  };
  /// Starts at once.
  Engine(const StagePlan& plan, WorkerPool& pool, Settings settings);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The next slot in order, whatever it holds; null: closed. Blocks; with a pool without threads
  /// it works instead.
  [[nodiscard]] SlotHeader* take();
  /// The same without waiting or working.
  [[nodiscard]] SinkEdge::Take try_take(SlotHeader*& slot);
  /// The next slot if it needs no wait, lock or clock; null: take().
  [[nodiscard]] SlotHeader* take_local() { return sink_->take_local(); }
  void give_back() { sink_->give_back(); }
  void close();

  /// Depth of the edge behind the stage; false: no such stage.
  [[nodiscard]] bool resize_queue(const std::string& stage, std::int64_t items);
  [[nodiscard]] const LoaderStages& stages() const { return loader_; }
  [[nodiscard]] std::uint64_t placed_rows() const;
  [[nodiscard]] std::uint64_t copied_rows() const;
  /// Names of stages whose values do not say how many bytes they hold.
  [[nodiscard]] std::vector<std::string> without_bytes() const;

 private:
  void make_edges(const StagePlan& plan);
  void make_zones();
  void make_stages(const StagePlan& plan);
  [[nodiscard]] std::string who_is_late() const;

  const Settings settings_;
  WorkerPool& pool_;
  std::stop_source stop_;
  std::shared_ptr<const Source> source_;
  std::unique_ptr<SourceInlet> inlet_;
  std::vector<std::unique_ptr<Edge>> edges_;  ///< edges_[i] is behind stage i
  SinkEdge* sink_ = nullptr;                  ///< the last of them
  std::vector<UnfoldEdge*> unfolding_;        ///< those that ask generators
  std::vector<std::unique_ptr<Zone>> zones_;
  std::vector<const Zone*> zone_of_;  ///< by edge
  std::unique_ptr<BatchArena> arena_;
  std::vector<std::unique_ptr<Stage>> stages_;
  LoaderStages loader_;
  std::atomic<bool> closed_{false};
  Mutex close_mutex_;
};

}  // namespace weir::detail
