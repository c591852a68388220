#pragma once

#include <cstdint>
#include <string>

namespace weir::program {

/// Quantities as people read them, the same in progress line and tables.
[[nodiscard]] std::string count_text(double count);           ///< "1,596"; below 10 "9.5"
[[nodiscard]] std::string milliseconds_text(double seconds);  ///< "0.25 ms"
[[nodiscard]] std::string microseconds_text(double seconds);  ///< "801 us", "2.8 ms", "1.2 s"
[[nodiscard]] std::string clock_text(double seconds);         ///< "00:04", "1:02:03"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);    ///< "77 MiB"
[[nodiscard]] std::string share_text(double share);           ///< "1.3 %"

}  // namespace weir::program
