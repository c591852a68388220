#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <weir/loader.hpp>

#include "tests/pipeline/chain.hpp"

namespace weir::test {

inline Given given_by(std::int64_t value) { return {{value}, {}, 0}; }
inline Given given_by(const Batch<std::int64_t>& batch) {
  return {{batch.items().begin(), batch.items().end()},
          {batch.ids().begin(), batch.ids().end()},
          batch.epoch()};
}

/// A chain that runs, whatever it ends in.
class ChainLoader {
 public:
  ChainLoader(const ChainStream& stream, const Options& options)
      : loader_(std::visit(
            [&options](const auto& typed) -> AnyLoader { return typed.start(options); }, stream)) {}

  [[nodiscard]] std::optional<Given> next() {
    return std::visit(
        [](auto& typed) -> std::optional<Given> {
          const auto value = typed.next();
          if (!value) return std::nullopt;
          return given_by(*value);
        },
        loader_);
  }
  [[nodiscard]] Position position() const {
    return std::visit([](const auto& typed) { return typed.position(); }, loader_);
  }
  [[nodiscard]] Summary summary() const {
    return std::visit([](const auto& typed) { return typed.summary(); }, loader_);
  }
  [[nodiscard]] std::vector<std::string> remarks() const {
    return std::visit([](const auto& typed) { return typed.remarks(); }, loader_);
  }
  /// The rest of the epoch.
  [[nodiscard]] std::vector<Given> rest() {
    std::vector<Given> given;
    while (std::optional<Given> value = next()) given.push_back(std::move(*value));
    return given;
  }

 private:
  using AnyLoader = std::variant<Loader<std::int64_t>, Loader<Batch<std::int64_t>>>;
  AnyLoader loader_;
};

}  // namespace weir::test
