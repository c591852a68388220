#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weir::bench {

/// What one run of a candidate took, between start() and stop(): what comes before and after is
/// set-up and does not count.
class Meter {
 public:
  void start();
  void stop();
  [[nodiscard]] double wall_seconds() const { return wall_seconds_; }
  /// Of all threads of the process, and of its children that have ended.
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }
  /// CPU time that others used meanwhile, theft by the hypervisor included, as a share of one CPU.
  [[nodiscard]] double foreign_share() const { return foreign_share_; }

 private:
  double wall_start_ = 0;
  double cpu_start_ = 0;
  double host_start_ = 0;
  double wall_seconds_ = 0;
  double cpu_seconds_ = 0;
  double foreign_share_ = 0;
};

/// Candidates that do the same work, run in turns (A B A B ...), so that whatever else the machine
/// does meets all of them; what is compared is the ratio within a round.
///
/// Thread safety: none.
class Rounds {
 public:
  struct Settings {
    int rounds = 7;
    std::string unit = "ns/item";  ///< seconds * `scale` / items
    double scale = 1e9;
    bool rate = false;  ///< items per second instead; a larger ratio is better
  };
  explicit Rounds(Settings settings) : settings_(std::move(settings)) {}

  /// `run` does the work once and returns how many items it was. The first candidate is the peer
  /// that the others are compared with.
  void add(std::string name, std::function<std::uint64_t(Meter&)> run);
  /// Runs all candidates once without counting, then in turns, and prints the table.
  void run_and_print();

  struct Result {
    double wall = 0;        ///< median, in the unit
    double cpu = 0;         ///< the same of CPU time
    double wall_ratio = 0;  ///< median over rounds of this one's wall time to the peer's
    double cpu_ratio = 0;
  };
  [[nodiscard]] const Result& result(std::size_t candidate) const { return results_[candidate]; }

 private:
  struct Candidate {
    std::string name;
    std::function<std::uint64_t(Meter&)> run;
    std::vector<double> wall;  ///< seconds an item, one a round
    std::vector<double> cpu;
  };

  void print(int foreign_rounds, int counted) const;

  const Settings settings_;
  std::vector<Candidate> candidates_;
  std::vector<Result> results_;
};

/// What the command line asks of a benchmark: `--quick` (one tiny round, to see that it runs) and
/// `--rounds N`. Exits with 2 on anything else.
struct Arguments {
  bool quick = false;
  int rounds = 7;
};
[[nodiscard]] Arguments read_arguments(int count, char** values);

/// Prints "met" or "missed" behind what was aimed at; after --quick, that it is not judged.
void print_goal(const std::string& words, double value, const std::string& relation, double goal);

[[nodiscard]] double median(std::vector<double> values);

}  // namespace weir::bench
