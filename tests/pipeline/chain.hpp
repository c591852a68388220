#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <weir/stream.hpp>

/// Random chains of operators, and what they must give by a naive sequential reading of the manual.
namespace weir::test {

/// One operator of a chain.
struct Link {
  enum class Kind {
    map,
    filter,
    flat_map,
    shuffle,
    shuffle_buffer,
    repeat,
    take,
    skip,
    shard,
    batch,
    prefetch
  };
  Kind kind = Kind::map;
  std::uint64_t count = 0;  ///< size, buffer, times, world
  int rank = 0;
  detail::ShardPlace::Remainder remainder = detail::ShardPlace::Remainder::uneven;
  bool drop_remainder = false;
};

struct Chain {
  std::int64_t items = 0;
  bool indexed = true;  ///< range; else a generator
  std::vector<Link> links;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool batched() const;
};

/// A chain that the planner accepts, by the seed alone.
[[nodiscard]] Chain random_chain(std::uint64_t seed);

/// The chain as a pipeline; the variant says whether it ends in batches.
using ChainStream = std::variant<Stream<std::int64_t>, Stream<Batch<std::int64_t>>>;
/// `on_source` is called for each item that the first function works on.
[[nodiscard]] ChainStream stream_of(const Chain& chain, std::function<void()> on_source = nullptr);

/// What one next() must give: values with their sample ids.
struct Given {
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> ids;  ///< of batches
  std::uint32_t epoch = 0;
  friend bool operator==(const Given&, const Given&) = default;
};
void PrintTo(const Given& given, std::ostream* out);

[[nodiscard]] std::vector<Given> reference(const Chain& chain, std::uint64_t seed,
                                           std::uint32_t epoch);

}  // namespace weir::test
