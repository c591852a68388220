#pragma once

#include "machine/topology.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// A device that batches may go to: a graphics or accelerator card on the PCI bus.
struct GraphicsDevice {
  std::string bus_id;       ///< "0000:3b:00.0"
  std::string vendor;       ///< by name where it is known, else its number
  std::string model;        ///< empty where nothing says it
  std::optional<int> node;  ///< the kernel's number of the node that it is near
};

/// Ascending by bus id; empty where there is none. Devices without a driver count: they are there.
[[nodiscard]] std::vector<GraphicsDevice> read_graphics_devices(const std::string& root = "/");

/// The index in `topology` of the node that the device with `bus_id` is near: what a plan fills
/// first. The domain may be left out, and case does not matter. nullopt: not known.
[[nodiscard]] std::optional<int> node_of_device(const Topology& topology,
                                                const std::vector<GraphicsDevice>& devices,
                                                std::string_view bus_id);

}  // namespace weir
