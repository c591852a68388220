// Any text is a pipeline, or a usage error that names its place.
#include <cstddef>
#include <cstdint>
#include <string>

#include <weir/error.hpp>
#include <weir/load_pipeline.hpp>

#include "fuzz/requirement.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    // Sources that read folders and write lists of classes are checked but not made.
    static_cast<void>(weir::parse_pipeline(text, "fuzzed.yaml", {}, {"files", "list"}));
  } catch (const weir::Error& error) {
    weir::fuzz::require(error.kind() == weir::ErrorKind::usage, "a wrong file is wrong usage");
    weir::fuzz::require(std::string(error.where()).starts_with("fuzzed.yaml"),
                        "a message begins with the file");
    weir::fuzz::require(error.what() != std::string(), "a message says something");
  }
  return 0;
}
