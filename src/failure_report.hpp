#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <weir/error.hpp>

namespace weir::program {

/// One line on standard error; a place in a file stands first, where editors look for it.
void report_failure(const Error& error, const std::string& verb);
[[nodiscard]] nlohmann::ordered_json error_json(const Error& error);
/// 128 + signal, else the error's kind, else 0.
[[nodiscard]] int exit_status(const std::optional<Error>& error, int signal);

}  // namespace weir::program
