#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::detail {

/// Where `path`, absolute as on a running system, lies under the injected `root`.
[[nodiscard]] std::string under_root(const std::string& root, std::string_view path);

/// The whole text of a small file of /proc or /sys; nullopt where it cannot be read, for whatever
/// reason: on these trees a missing file is an answer, not a failure.
[[nodiscard]] std::optional<std::string> read_system_file(const std::string& root,
                                                          std::string_view path);

[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// The lines of `text`, without their ends and without empty ones.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// The decimal number that `text` is, white space around it aside; nullopt for anything else, such
/// as a sign, a fraction, a unit or a number beyond 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);

/// The rest of the first line that begins with `key`, followed by a space, tab or colon: the form
/// of /proc/self/status, meminfo, cpu.stat and io alike.
[[nodiscard]] std::optional<std::string_view> find_field(std::string_view text,
                                                         std::string_view key);
/// The first word of that as a number, a unit behind it ignored.
[[nodiscard]] std::optional<std::uint64_t> find_number(std::string_view text, std::string_view key);

}  // namespace weir::detail
