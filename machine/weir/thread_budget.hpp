#pragma once

#include <weir/cpu_set.hpp>
#include <weir/error.hpp>
#include <weir/export.hpp>
#include <weir/machine_view.hpp>
#include <weir/ranks.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// What decided the number of threads.
enum class BudgetSource {
  affinity,     ///< the CPUs that this process may use
  quota,        ///< a container's CPU quota below that
  ranks,        ///< the local ranks share those CPUs
  user,         ///< asked for by the program, on the command line or in the pipeline's file
  environment,  ///< asked for by WEIR_THREADS
  forced,       ///< asked for, above what the machine allows, with oversubscribe
};

/// The word that outputs use for it.
[[nodiscard]] WEIR_EXPORT std::string_view to_string(BudgetSource source);

/// A number of threads that somebody asked for, and where: "--workers", "train.yaml:12:3".
struct RequestedThreads {
  int threads = 0;
  std::string where = "workers";
};

/// What the user says about the budget. The first limit that is set wins: `explicit_limit`,
/// `file_limit`, the variable WEIR_THREADS; without any the budget is computed.
struct ThreadBudgetRequest {
  std::optional<RequestedThreads> explicit_limit;  ///< the program (API) or the command line
  std::optional<RequestedThreads> file_limit;      ///< the pipeline's file
  bool oversubscribe = false;  ///< allow more than the machine does, for emulation
  int reserve = 0;             ///< CPUs left to others; only the computed budget heeds it
};

/// Why there is no budget, ready for a user.
struct BudgetRefusal {
  ErrorKind kind = ErrorKind::usage;  ///< `cannot` where the computed budget is below one
  std::string where;
  std::string message;  ///< names the numbers and the next step
};

/// The number of data-plane threads this process may have, and how it was found.
///
/// computed = floor((min(|mask|, max(1, floor(quota))) - reserve) / local ranks), the remainder
/// going to the lowest ranks. Floor, because the pool is always busy: the fraction left feeds the
/// control thread. Ranks divide only when the launcher has not given each of them its own CPUs
/// already. A number asked for is final and per process: neither reserve nor ranks touch it.
///
/// **Thread safety**: a value.
/// **Invariants**: (1) without a refusal, 1 <= threads, and threads <= allowed unless the source is
/// `forced`; (2) with one, threads is 0.
struct ThreadBudget {
  int threads = 0;
  BudgetSource source = BudgetSource::affinity;
  int allowed = 0;              ///< min(|mask|, max(1, floor(quota)))
  CpuSet mask;                  ///< of the calling thread at the time
  std::optional<double> quota;  ///< in CPUs; the smallest of the own cgroup and its ancestors
  std::string quota_file;       ///< which said so
  Ranks ranks;                  ///< local ones
  bool ranks_divide = false;    ///< false where each rank has CPUs of its own
  int reserve = 0;
  std::vector<std::string> derivation;  ///< step by step, for people
  std::optional<BudgetRefusal> refusal;

  /// Throws the refusal as an Error, if there is one.
  WEIR_EXPORT void throw_if_refused() const;
};

/// Derives the budget afresh; it is cheap enough to repeat every few seconds, and worth it:
/// orchestrators rewrite masks and quotas while a program runs. Files that are missing or make no
/// sense mean "no quota known", never a failure.
[[nodiscard]] WEIR_EXPORT ThreadBudget derive_thread_budget(const ThreadBudgetRequest& request = {},
                                                            const MachineView& view = {});

}  // namespace weir
