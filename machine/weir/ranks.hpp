#pragma once

#include <weir/export.hpp>
#include <weir/machine_view.hpp>

#include <string>
#include <vector>

namespace weir {

/// The place of this process among the processes that one launcher started.
struct Ranks {
  int rank = 0;  ///< 0 <= rank < size
  int size = 1;
  std::string
      source;  ///< the two variables that said so, "LOCAL_RANK/LOCAL_WORLD_SIZE"; empty: none
};

/// The processes of this machine alone, as torchrun, Open MPI, Slurm or MPICH numbers them (the
/// first of these that set both its variables). A pair that makes no sense is passed over, and a
/// line that says so is added to `notes`.
[[nodiscard]] WEIR_EXPORT Ranks local_ranks(const EnvironmentLookup& environment,
                                            std::vector<std::string>& notes);

/// The same over all machines of the job: what a stream is sharded by.
[[nodiscard]] WEIR_EXPORT Ranks world_ranks(const EnvironmentLookup& environment,
                                            std::vector<std::string>& notes);

}  // namespace weir
