#pragma once

#include <weir/machine_view.hpp>

#include "machine/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weir {

/// What a tuned file says about the machine on which it was found.
///
/// It is the machine as a whole, not this process's part of it: a narrower mask or a smaller budget
/// is a difference of the run, not of the machine.
struct MachineDescription {
  std::string cpu_model;  ///< "unknown" if nothing says it
  int threads = 0;        ///< hardware threads
  int cores = 0;
  int nodes = 0;
  std::uint64_t memory_bytes = 0;  ///< 0: not known
  std::optional<double> quota;     ///< in CPUs
  /// 16 hexadecimal digits over all of the above, with memory in whole GiB, since kernels of
  /// different versions keep different amounts for themselves.
  std::string fingerprint;
};

[[nodiscard]] MachineDescription describe_machine(const Topology& topology,
                                                  const MachineView& view = {});

/// The digits that `description` should have; its own `fingerprint` is not looked at.
[[nodiscard]] std::string fingerprint_of(const MachineDescription& description);

}  // namespace weir
