#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/telemetry.hpp>

#include "pipeline/byte_ledger.hpp"
#include "tuner/shared_cores.hpp"
#include "tuner/simulated_clocks.hpp"
#include "tuner/simulated_consumer.hpp"
#include "tuner/simulated_flow.hpp"
#include "tuner/simulated_plant.hpp"
#include "tuner/simulated_stage.hpp"

namespace weir::detail {

/// The plant of a simulated machine: what pipeline/worker_pool.hpp does, in virtual time.
///
/// Algorithm: a worker that ends a packet takes the next one at once, as begin() of the pool says;
/// whoever makes a stage runnable wakes the last sleeper, who looks after those that are awake. All
/// that happens at one instant is done before time moves on.
///
/// Thread safety: none.
/// Invariants: those of WorkerPool; budget_violations() counts what would break them.
class SimulatedPool final : public SimulatedPlant {
 public:
  SimulatedPool(std::span<const ScenarioProcess> loaders, int workers, std::uint64_t seed,
                SharedCores& cores, double now);

  // Of the machine's loop.
  [[nodiscard]] double next_event() const;
  /// Lets happen what is due. Requires: the clock has come to next_event().
  void handle_event(double now);
  void set_core_share(double share, double now);
  void set_now(double now) { now_ = now; }

  // Plant.
  [[nodiscard]] Snapshot snapshot() const override;
  [[nodiscard]] Allocation allocation() const override { return allocation_; }
  [[nodiscard]] bool apply(const Allocation& allocation) override;

  // SimulatedPlant.
  void set_stage(int stage, const ScenarioStage& to) override;
  [[nodiscard]] const ScenarioStage& stage(int stage) const override;
  void set_consumer(const ScenarioFlow& to, int loader) override;
  void set_source(const ScenarioFlow& to, int loader) override;
  void set_workers(int workers) override;
  void pause_consumer(double seconds, int loader) override;
  void set_loaders(std::span<const ScenarioProcess> loaders) override;
  [[nodiscard]] int most_running() const override { return most_running_; }
  [[nodiscard]] std::uint64_t budget_violations() const override { return violations_; }
  [[nodiscard]] double peak_bytes() const override { return static_cast<double>(ledger_.peak()); }
  [[nodiscard]] double cpu_seconds() const override;
  [[nodiscard]] std::vector<double> last_ran_seconds() const override;
  [[nodiscard]] int applied() const override { return applied_; }

 private:
  struct Loader {
    Loader(const ScenarioProcess& process, double now)
        : name(process.name), consumer(process.consumer, now) {}

    std::string name;
    SimulatedSource source;
    SimulatedConsumer consumer;
    std::size_t first_stage = 0;
    std::size_t end_stage = 0;
    std::vector<std::size_t> renumbering;  ///< edges that do, downstream first
  };
  struct Worker {
    explicit Worker(std::size_t stages) : clocks(stages) {}

    int stage = -1;  ///< of the packet under way; -1: none
    int last = -1;
    SimulatedPacket packet;
    double began = -1;        ///< its last packet; negative: it never had one
    bool in_service = false;  ///< not waiting for a device
    bool needs_core = false;
    double service_began = 0;
    double granted_before = 0;  ///< SharedCores::granted_seconds() when its service began
    double shared_before = 0;
    SimulatedClocks clocks;
  };

  [[nodiscard]] const HostSnapshot& host() const;

  void make_loaders(std::span<const ScenarioProcess> loaders);
  void make_stages(Loader& loader, std::span<const ScenarioStage> stages);
  void make_workers();

  // As WorkerPool.
  void look();
  [[nodiscard]] std::uint64_t exempt(std::size_t stage) const;
  [[nodiscard]] bool runnable(std::size_t stage) const;
  [[nodiscard]] bool begin(int worker);
  [[nodiscard]] bool claim(int worker, int stage);
  void end(int worker);
  void go_on(int worker);
  void go_on_woken();
  void wake_one();
  void wake_if_choosable();
  void count_unparked(int change);
  void settle_parking();
  void clamp();
  void adjust_depths();

  void enter_service(Worker& worker);
  void admit_to_device(std::size_t stage);
  void serve(Loader& loader);
  [[nodiscard]] double first_end() const;
  void foresee(std::size_t stage) { ends_[stage] = stages_[stage].service().next_end(); }

  SharedCores& cores_;
  const std::uint64_t seed_;
  int budget_;
  double now_;
  bool started_ = false;

  ByteLedger ledger_;
  Allocation wanted_;      ///< as it was applied
  Allocation allocation_;  ///< brought within what there is
  std::uint64_t structure_ = 0;
  std::vector<Loader> loaders_;
  std::vector<std::unique_ptr<SimulatedEdge>> edges_;  ///< edges_[i] is behind stage i
  std::vector<SimulatedStage> stages_;
  std::vector<double> ends_;  ///< next_end() of each stage, side by side
  std::vector<StageView> views_;

  std::vector<Worker> workers_;
  std::vector<int> sleepers_;  ///< the last one is woken first
  std::vector<int> parked_;
  std::vector<int> woken_;  ///< have yet to look for work at this instant
  int unparked_ = 0;
  double unparked_seconds_ = 0;
  double unparked_since_ = 0;
  double depths_adjusted_at_ = 0;
  mutable HostSnapshot host_;  ///< as it was read last

  int running_ = 0;
  int most_running_ = 0;
  int applied_ = 0;
  std::uint64_t violations_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace weir::detail
