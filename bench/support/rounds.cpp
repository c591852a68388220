#include "bench/support/rounds.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <utility>

namespace weir::bench {
namespace {

/// Above this share of one CPU in foreign hands a round tells little.
constexpr double kMuchForeign = 0.1;

/// Set by --quick: a tiny budget is no ground for a verdict.
bool no_verdicts = false;

double clock_seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double own_cpu_seconds() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds(children.ru_utime) +
         seconds(children.ru_stime);
}

/// CPU seconds that the whole machine has used, theft included.
double host_busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft_irq = 0, steal = 0;
  stat >> word >> user >> nice >> system >> idle >> wait >> irq >> soft_irq >> steal;
  return (user + nice + system + irq + soft_irq + steal) /
         static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void Meter::start() {
  host_start_ = host_busy_seconds();
  cpu_start_ = own_cpu_seconds();
  wall_start_ = clock_seconds(CLOCK_MONOTONIC);
}

void Meter::stop() {
  wall_seconds_ = clock_seconds(CLOCK_MONOTONIC) - wall_start_;
  cpu_seconds_ = own_cpu_seconds() - cpu_start_;
  // The kernel counts in ticks of 10 ms or so: half a tick a CPU is no evidence of anybody.
  const double foreign = host_busy_seconds() - host_start_ - cpu_seconds_ - 0.02;
  foreign_share_ = std::max(0.0, foreign) / std::max(wall_seconds_, 1e-9);
}

void Rounds::add(std::string name, std::function<std::uint64_t(Meter&)> run) {
  candidates_.push_back({std::move(name), std::move(run), {}, {}});
}

void Rounds::run_and_print() {
  for (Candidate& candidate : candidates_) {
    Meter meter;
    (void)candidate.run(meter);
  }
  int foreign_rounds = 0;
  std::vector<bool> foreign;
  for (int round = 0; round < settings_.rounds; ++round) {
    bool much = false;
    for (Candidate& candidate : candidates_) {
      Meter meter;
      const auto items = static_cast<double>(candidate.run(meter));
      candidate.wall.push_back(meter.wall_seconds() / items);
      candidate.cpu.push_back(meter.cpu_seconds() / items);
      much = much || meter.foreign_share() > kMuchForeign;
    }
    foreign.push_back(much);
    if (much) ++foreign_rounds;
  }
  // Quiet rounds alone count where there are at least three of them.
  const bool quiet_only = settings_.rounds - foreign_rounds >= 3;
  const auto counted = [&](const std::vector<double>& values, const std::vector<double>* peer) {
    std::vector<double> kept;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!quiet_only || !foreign[i])
        kept.push_back(peer == nullptr ? values[i] : values[i] / (*peer)[i]);
    return median(std::move(kept));
  };
  results_.clear();
  const Candidate& peer = candidates_.front();
  for (const Candidate& candidate : candidates_) {
    Result result;
    result.wall = counted(candidate.wall, nullptr) * settings_.scale;
    result.cpu = counted(candidate.cpu, nullptr) * settings_.scale;
    if (settings_.rate) result.wall = 1.0 / counted(candidate.wall, nullptr);
    result.wall_ratio = counted(candidate.wall, &peer.wall);
    result.cpu_ratio = counted(candidate.cpu, &peer.cpu);
    results_.push_back(result);
  }
  print(foreign_rounds, quiet_only ? settings_.rounds - foreign_rounds : settings_.rounds);
}

void Rounds::print(int foreign_rounds, int counted) const {
  std::size_t width = 10;
  for (const Candidate& candidate : candidates_) width = std::max(width, candidate.name.size());
  const int name_width = static_cast<int>(width);
  const std::string cpu_unit = settings_.rate ? "CPU us/item" : "CPU " + settings_.unit;
  std::printf("  %-*s  %14s  %14s  %10s  %9s\n", name_width, "", settings_.unit.c_str(),
              cpu_unit.c_str(), "wall ratio", "CPU ratio");
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Result& result = results_[i];
    // Ratios are times to the peer's times, whatever the unit: below one is faster.
    std::printf("  %-*s  %14.1f  %14.1f  %10.3f  %9.3f\n", name_width, candidates_[i].name.c_str(),
                result.wall, result.cpu, result.wall_ratio, result.cpu_ratio);
  }
  std::printf("  medians of %d rounds in turns; ratios of times to '%s' within a round", counted,
              candidates_.front().name.c_str());
  if (foreign_rounds > 0)
    std::printf("; others used the CPUs in %d of %d%s", foreign_rounds, settings_.rounds,
                counted < settings_.rounds ? ", left out" : ", counted all the same");
  std::printf("\n");
  std::fflush(stdout);
}

Arguments read_arguments(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    if (word == "--quick") {
      arguments.quick = true;
      no_verdicts = true;
      arguments.rounds = 1;
    } else if (word == "--rounds" && i + 1 < count && std::atoi(values[i + 1]) > 0) {
      arguments.rounds = std::atoi(values[++i]);
    } else {
      std::cerr << values[0] << ": takes --quick and --rounds N, not '" << word << "'\n";
      std::exit(2);
    }
  }
  return arguments;
}

void print_goal(const std::string& words, double value, const std::string& relation, double goal) {
  const bool met = relation == "at most" ? value <= goal : value >= goal;
  std::printf("  %s: %.3g, %s %.3g: %s\n", words.c_str(), value, relation.c_str(), goal,
              no_verdicts ? "not judged"
              : met       ? "met"
                          : "missed");
  std::fflush(stdout);
}

}  // namespace weir::bench
