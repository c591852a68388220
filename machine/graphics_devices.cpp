#include "machine/graphics_devices.hpp"

#include "machine/system_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>

namespace weir {
namespace {

/// "0x10de"; nullopt for anything else.
std::optional<std::uint32_t> hexadecimal(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::string_view digits = detail::trimmed(*text);
  if (!digits.starts_with("0x")) return std::nullopt;
  digits.remove_prefix(2);
  std::uint32_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

/// Display controllers 03xx without the plain VGA adapters of virtual machines, and processing
/// accelerators 12xx.
bool takes_batches(std::uint32_t device_class, std::uint32_t vendor) {
  constexpr std::uint32_t kNvidia = 0x10de;
  constexpr std::uint32_t kAmd = 0x1002;
  constexpr std::uint32_t kIntel = 0x8086;
  const std::uint32_t kind = device_class >> 8U;
  if (kind >> 8U == 0x12) return true;
  if (kind >> 8U != 0x03) return false;
  return vendor == kNvidia || vendor == kAmd || vendor == kIntel;
}

std::string vendor_name(std::uint32_t vendor) {
  switch (vendor) {
    case 0x10de:
      return "NVIDIA";
    case 0x1002:
      return "AMD";
    case 0x8086:
      return "Intel";
    default: {
      char digits[16];
      const auto end = std::to_chars(digits, digits + sizeof digits, vendor, 16).ptr;
      return "vendor " + std::string(digits, end);
    }
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace

std::vector<GraphicsDevice> read_graphics_devices(const std::string& root) {
  const std::string folder = "/sys/bus/pci/devices";
  std::vector<GraphicsDevice> devices;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(detail::under_root(root, folder), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string bus_id = entry->path().filename().string();
    const std::string own = folder + "/" + bus_id;
    const auto device_class = hexadecimal(detail::read_system_file(root, own + "/class"));
    const auto vendor = hexadecimal(detail::read_system_file(root, own + "/vendor"));
    if (!device_class || !vendor || !takes_batches(*device_class, *vendor)) continue;
    GraphicsDevice device{bus_id, vendor_name(*vendor), "", std::nullopt};
    // -1 means that the firmware does not say; parse_number() takes no sign.
    if (const auto node = detail::read_system_file(root, own + "/numa_node"))
      if (const auto number = detail::parse_number(*node)) device.node = static_cast<int>(*number);
    if (const auto text =
            detail::read_system_file(root, "/proc/driver/nvidia/gpus/" + bus_id + "/information"))
      device.model = detail::find_field(*text, "Model").value_or(std::string_view{});
    devices.push_back(std::move(device));
  }
  std::sort(devices.begin(), devices.end(),
            [](const auto& left, const auto& right) { return left.bus_id < right.bus_id; });
  return devices;
}

std::optional<int> node_of_device(const Topology& topology,
                                  const std::vector<GraphicsDevice>& devices,
                                  std::string_view bus_id) {
  const std::string wanted = lower(bus_id);
  for (const GraphicsDevice& device : devices) {
    const std::string own = lower(device.bus_id);
    // The driver writes a longer domain, "00000000:3B:00.0"; what counts is the end.
    const bool same = own == wanted || (own.size() > wanted.size() ? own.ends_with(":" + wanted)
                                                                   : wanted.ends_with(own));
    if (!same || !device.node) continue;
    for (std::size_t i = 0; i < topology.node_numbers.size(); ++i)
      if (topology.node_numbers[i] == *device.node) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace weir
