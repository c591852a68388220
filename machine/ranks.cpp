#include <weir/ranks.hpp>

#include "machine/system_file.hpp"

#include <climits>
#include <cstdint>
#include <optional>
#include <span>

#include <fmt/format.h>

namespace weir {
namespace {

struct RankVariables {
  const char* rank;
  const char* size;
};

constexpr RankVariables kLocalVariables[] = {
    {"LOCAL_RANK", "LOCAL_WORLD_SIZE"},                            // torchrun
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},  // Open MPI
    {"SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},                    // srun
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},                        // MPICH, Intel MPI
};
constexpr RankVariables kWorldVariables[] = {
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
    {"PMI_RANK", "PMI_SIZE"},
};

Ranks find_ranks(std::span<const RankVariables> variables, const EnvironmentLookup& environment,
                 std::vector<std::string>& notes) {
  for (const RankVariables& names : variables) {
    const std::optional<std::string> rank_text = environment(names.rank);
    const std::optional<std::string> size_text = environment(names.size);
    // A size alone is common (an allocation without a started task) and says nothing about us.
    if (!rank_text) continue;
    if (!size_text) {
      notes.push_back(
          fmt::format("{}={} without {}: not used", names.rank, *rank_text, names.size));
      continue;
    }
    const std::optional<std::uint64_t> rank = detail::parse_number(*rank_text);
    const std::optional<std::uint64_t> size = detail::parse_number(*size_text);
    if (!rank || !size || *rank >= *size || *size > INT_MAX) {
      notes.push_back(fmt::format("{}={} with {}={}: not a rank below a size, not used", names.rank,
                                  *rank_text, names.size, *size_text));
      continue;
    }
    return {static_cast<int>(*rank), static_cast<int>(*size),
            fmt::format("{}/{}", names.rank, names.size)};
  }
  return {};
}

}  // namespace

Ranks local_ranks(const EnvironmentLookup& environment, std::vector<std::string>& notes) {
  return find_ranks(kLocalVariables, environment, notes);
}

Ranks world_ranks(const EnvironmentLookup& environment, std::vector<std::string>& notes) {
  return find_ranks(kWorldVariables, environment, notes);
}

}  // namespace weir
