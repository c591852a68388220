#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <weir/summary.hpp>

namespace weir::program {

/// The document of `weir run --json`; the names in it are what scripts rely on.
[[nodiscard]] nlohmann::ordered_json summary_json(const Summary& summary);

/// `text` of a document with its closing newline. Bytes that are no UTF-8 (paths) are replaced.
[[nodiscard]] std::string document_text(const nlohmann::ordered_json& document);

}  // namespace weir::program
