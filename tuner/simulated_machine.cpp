#include "tuner/simulated_machine.hpp"

#include <algorithm>

#include "tuner/shared_cores.hpp"
#include "tuner/simulated_pool.hpp"

namespace weir::detail {

struct SimulatedMachine::State {
  State(int cores_count, double quota_cpus) : cores(cores_count, quota_cpus) {}

  void settle();
  void move_to(double seconds);

  SharedCores cores;
  std::vector<std::unique_ptr<SimulatedPool>> plants;
  double now = 0;
  double known_share = 1;  ///< what the plants were told last
};

void SimulatedMachine::State::settle() {
  if (cores.share() == known_share) return;
  known_share = cores.share();
  for (const std::unique_ptr<SimulatedPool>& plant : plants)
    plant->set_core_share(known_share, now);
}

void SimulatedMachine::State::move_to(double seconds) {
  now = seconds;
  cores.advance_to(now);
}

SimulatedMachine::SimulatedMachine(int cores, double quota_cpus)
    : state_(std::make_unique<State>(std::max(1, cores), quota_cpus)) {}

SimulatedMachine::~SimulatedMachine() = default;

SimulatedPlant& SimulatedMachine::add(const ScenarioProcess& process, int workers,
                                      std::uint64_t seed) {
  return add(std::span(&process, 1), workers, seed);
}

SimulatedPlant& SimulatedMachine::add(std::span<const ScenarioProcess> loaders, int workers,
                                      std::uint64_t seed) {
  state_->plants.push_back(
      std::make_unique<SimulatedPool>(loaders, workers, seed, state_->cores, state_->now));
  state_->plants.back()->set_core_share(state_->known_share, state_->now);
  return *state_->plants.back();
}

void SimulatedMachine::advance_to(double seconds) {
  State& state = *state_;
  while (true) {
    state.settle();
    double next = state.cores.next_event();
    SimulatedPool* due = nullptr;
    for (const std::unique_ptr<SimulatedPool>& plant : state.plants) {
      const double event = plant->next_event();
      if (event >= next) continue;
      next = event;
      due = plant.get();
    }
    if (next > seconds) break;
    state.move_to(std::max(next, state.now));
    if (due != nullptr)
      due->handle_event(state.now);
    else
      state.cores.handle_event();
  }
  if (seconds > state.now) state.move_to(seconds);
  for (const std::unique_ptr<SimulatedPool>& plant : state.plants) plant->set_now(state.now);
}

double SimulatedMachine::now() const { return state_->now; }

void SimulatedMachine::set_cores_taken(int cores) { state_->cores.set_taken(cores); }

std::uint64_t SimulatedMachine::quota_periods() const { return state_->cores.periods(); }

std::uint64_t SimulatedMachine::throttled_quota_periods() const {
  return state_->cores.throttled_periods();
}

}  // namespace weir::detail
