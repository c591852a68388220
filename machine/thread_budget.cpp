#include <weir/thread_budget.hpp>

#include "machine/cgroup.hpp"
#include "machine/cpu_quota.hpp"
#include "machine/system_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace weir {
namespace {

/// Enough to emulate any machine; more is a slip of the keyboard, and each thread costs memory.
constexpr int kMostThreads = 4096;
constexpr const char* kThreadsVariable = "WEIR_THREADS";

std::string cpus_text(int count) { return fmt::format("{} CPU{}", count, count == 1 ? "" : "s"); }

/// The CPUs that all processes of this cgroup share: its cpuset, or what is online.
CpuSet shared_cpus(const std::string& root, const detail::Cgroups& cgroups) {
  const auto first_set_in = [&](const std::vector<std::string>& folders, const char* name) {
    for (const std::string& folder : folders) {
      const std::optional<std::string> text = detail::read_system_file(root, folder + name);
      const std::optional<CpuSet> cpus = text ? CpuSet::parse(*text) : std::nullopt;
      if (cpus && !cpus->empty()) return *cpus;
    }
    return CpuSet{};
  };
  using detail::CgroupVersion;
  const std::vector<std::string> two = cgroups.folders(CgroupVersion::two, "cpuset");
  const std::vector<std::string> one = cgroups.folders(CgroupVersion::one, "cpuset");
  CpuSet cpus = first_set_in(two, "/cpuset.cpus.effective");
  if (cpus.empty()) cpus = first_set_in(one, "/cpuset.effective_cpus");
  if (cpus.empty()) cpus = first_set_in(one, "/cpuset.cpus");
  if (cpus.empty()) cpus = first_set_in({"/sys/devices/system/cpu"}, "/online");
  return cpus;
}

/// Asked-for threads as the environment has them: nullopt where it does not say, an error's text
/// where it says nonsense.
std::optional<RequestedThreads> environment_limit(const MachineView& view, std::string& mistake) {
  const std::optional<std::string> text = view.environment(kThreadsVariable);
  if (!text || text->empty() || *text == "auto") return std::nullopt;
  RequestedThreads limit{0, kThreadsVariable};
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, limit.threads);
  if (error != std::errc{} || stopped != end) {
    mistake = fmt::format(
        "\"{}\" is not a number of threads: give a whole number from 1 on, \"auto\", "
        "or unset the variable",
        *text);
  }
  return limit;
}

/// "mask of 4 CPUs (0-3), quota of 2.5 CPUs (/sys/fs/cgroup/cpu.max), rounded down".
std::string limits_text(const ThreadBudget& budget) {
  std::string text =
      fmt::format("mask of {} ({})", cpus_text(budget.mask.size()), budget.mask.to_string());
  if (budget.quota) {
    text += fmt::format(", quota of {:g} CPUs ({})", *budget.quota, budget.quota_file);
    if (*budget.quota != std::floor(*budget.quota)) text += " in whole CPUs";
  }
  return text;
}

void refuse(ThreadBudget& budget, ErrorKind kind, std::string where, std::string message) {
  budget.threads = 0;
  budget.derivation.push_back("refused: " + message);
  budget.refusal = BudgetRefusal{kind, std::move(where), std::move(message)};
}

void read_limits(ThreadBudget& budget, const MachineView& view) {
  const detail::Cgroups cgroups(view.root);
  const CpuSet shared = shared_cpus(view.root, cgroups);
  budget.mask = view.affinity();
  if (budget.mask.empty()) budget.mask = shared.empty() ? CpuSet{0} : shared;
  budget.derivation.push_back(
      fmt::format("mask: {} ({})", cpus_text(budget.mask.size()), budget.mask.to_string()));
  if (const auto status = detail::read_system_file(view.root, "/proc/self/status")) {
    const auto list = detail::find_field(*status, "Cpus_allowed_list");
    const std::optional<CpuSet> process = list ? CpuSet::parse(*list) : std::nullopt;
    if (process && process->size() > budget.mask.size()) {
      budget.derivation.push_back(fmt::format(
          "note: the calling thread is bound more tightly than its process, which has {} ({}); an "
          "OpenMP runtime may have done that; start from an unbound thread to use them",
          cpus_text(process->size()), process->to_string()));
    }
  }

  detail::CpuQuota quota = detail::find_cpu_quota(view.root, cgroups, budget.derivation);
  budget.quota = quota.cpus;
  budget.quota_file = std::move(quota.file);
  budget.allowed = budget.mask.size();
  if (budget.quota) {
    // Compared before the conversion: a quota may exceed any int.
    const double whole = std::max(1.0, std::floor(*budget.quota));
    if (whole < budget.allowed) {
      budget.allowed = static_cast<int>(whole);
      budget.source = BudgetSource::quota;
    }
    budget.derivation.push_back(fmt::format("quota: {:g} CPUs ({}), in whole CPUs {:g}",
                                            *budget.quota, budget.quota_file, whole));
  } else {
    budget.derivation.emplace_back("quota: none known");
  }

  budget.ranks = local_ranks(view.environment, budget.derivation);
  if (budget.ranks.size > 1) {
    // A launcher that binds (srun, mpirun) narrows each rank's mask below what the cgroup has; the
    // CPUs that are left are this rank's own.
    budget.ranks_divide = shared.size() <= budget.mask.size();
    budget.derivation.push_back(fmt::format(
        "local ranks: {} of {} ({}){}", budget.ranks.rank, budget.ranks.size, budget.ranks.source,
        budget.ranks_divide
            ? ""
            : fmt::format("; not divided, the mask is narrower than the {} they share",
                          cpus_text(shared.size()))));
  }
}

void compute(ThreadBudget& budget) {
  const int left = std::max(0, budget.allowed - budget.reserve);
  if (budget.reserve > 0) {
    budget.derivation.push_back(
        fmt::format("reserve: {} left to others, {} remain", budget.reserve, left));
  }
  budget.threads = left;
  if (budget.ranks_divide) {
    budget.threads = left / budget.ranks.size + (budget.ranks.rank < left % budget.ranks.size);
    budget.source = BudgetSource::ranks;
  }
  if (budget.threads >= 1) return;
  std::string next = "ask for a number of workers by hand (workers: 1 is always allowed)";
  if (budget.reserve > 0) next = "lower the reserve, or " + next;
  if (budget.ranks_divide) next = "start fewer local ranks, or " + next;
  refuse(
      budget, ErrorKind::cannot, "workers",
      fmt::format("no thread is left: {}, reserve {}, local rank {} of {}; {}", limits_text(budget),
                  budget.reserve, budget.ranks.rank, budget.ranks.size, next));
}

void take_limit(ThreadBudget& budget, const RequestedThreads& limit, BudgetSource source,
                bool oversubscribe) {
  budget.derivation.push_back(fmt::format("asked for: {} ({})", limit.threads, limit.where));
  if (limit.threads < 1) {
    return refuse(budget, ErrorKind::usage, limit.where,
                  fmt::format("{} threads cannot run a pipeline: ask for 1 to {}, or auto",
                              limit.threads, budget.allowed));
  }
  if (limit.threads > budget.allowed && !oversubscribe) {
    return refuse(budget, ErrorKind::usage, limit.where,
                  fmt::format("{} threads are more than this process may use, which is {}: {}; ask "
                              "for 1 to {}, or set oversubscribe to emulate a larger machine",
                              limit.threads, budget.allowed, limits_text(budget), budget.allowed));
  }
  if (limit.threads > std::max(kMostThreads, budget.allowed)) {
    return refuse(budget, ErrorKind::usage, limit.where,
                  fmt::format("{} threads are too many to emulate: ask for at most {}",
                              limit.threads, kMostThreads));
  }
  budget.threads = limit.threads;
  budget.source = limit.threads > budget.allowed ? BudgetSource::forced : source;
}

}  // namespace

std::string_view to_string(BudgetSource source) {
  switch (source) {
    case BudgetSource::affinity:
      return "affinity";
    case BudgetSource::quota:
      return "quota";
    case BudgetSource::ranks:
      return "ranks";
    case BudgetSource::user:
      return "user";
    case BudgetSource::environment:
      return "environment";
    case BudgetSource::forced:
      return "forced";
  }
  return "unknown";
}

void ThreadBudget::throw_if_refused() const {
  if (refusal) throw Error(refusal->kind, refusal->where, refusal->message);
}

ThreadBudget derive_thread_budget(const ThreadBudgetRequest& request, const MachineView& view) {
  ThreadBudget budget;
  budget.reserve = request.reserve;
  read_limits(budget, view);

  if (request.explicit_limit) {
    take_limit(budget, *request.explicit_limit, BudgetSource::user, request.oversubscribe);
  } else if (request.file_limit) {
    take_limit(budget, *request.file_limit, BudgetSource::user, request.oversubscribe);
  } else {
    std::string mistake;
    const std::optional<RequestedThreads> limit = environment_limit(view, mistake);
    if (!mistake.empty()) {
      refuse(budget, ErrorKind::usage, kThreadsVariable, mistake);
    } else if (limit) {
      take_limit(budget, *limit, BudgetSource::environment, request.oversubscribe);
    } else if (request.reserve < 0) {
      refuse(budget, ErrorKind::usage, "reserve",
             fmt::format("a reserve of {} CPUs makes no sense: give 0 to {}", request.reserve,
                         budget.allowed - 1));
    } else {
      compute(budget);
    }
  }
  if (!budget.refusal) {
    budget.derivation.push_back(
        fmt::format("threads: {} (source: {})", budget.threads, to_string(budget.source)));
  }
  return budget;
}

}  // namespace weir
