#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <weir/stream.hpp>

#include "pipeline/stage_plan.hpp"

/// Random pipelines of items with sizes, and what they must give by a naive sequential reading.
namespace weir::test {

/// A value that says how many bytes it holds, without holding them.
struct Item {
  std::uint64_t id = 0;
  std::uint32_t bytes = 0;
};
[[nodiscard]] inline std::size_t bytes_of(const Item& item) { return item.bytes; }

/// One operator of a case.
struct StressLink {
  enum class Kind {
    map,
    serial_map,
    capped_map,
    bad_map,
    filter,
    flat_map,
    generator,
    shuffle_buffer,
    take,
    skip
  };
  Kind kind = Kind::map;
  std::uint64_t count = 0;
};

/// A pipeline with its options, by a seed alone.
struct StressCase {
  std::uint64_t seed = 0;
  std::uint64_t items = 0;
  bool indexed = true;
  std::uint32_t epochs = 1;
  std::vector<StressLink> links;
  std::uint64_t rows = 0;  ///< of a batch; 0: no batch
  bool drop_remainder = false;
  bool map_batches = false;
  bool any_order = false;
  detail::Fusion fusion = detail::Fusion::off;
  std::uint32_t most_item_bytes = 1;
  bool jitters = false;  ///< functions yield now and then

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool shuffled() const;
  /// Ids that one epoch gives, flattened; behind a shuffle in another order.
  [[nodiscard]] std::vector<std::uint64_t> reference() const;
  /// Bad items of one epoch.
  [[nodiscard]] std::uint64_t bad() const;
  /// The most bytes of one output of any stage.
  [[nodiscard]] std::uint64_t most_output_bytes() const;
  /// The most bytes that the oldest undelivered batch needs before it can be given.
  [[nodiscard]] std::uint64_t batch_bytes() const;
};

[[nodiscard]] StressCase stress_case(std::uint64_t seed);

using StressStream = std::variant<Stream<Item>, Stream<Batch<Item>>>;
[[nodiscard]] StressStream stream_of(const StressCase& stress);
[[nodiscard]] detail::StagePlan plan_of(const StressCase& stress);

/// The ids in a live slot that the last stage of the case gave.
[[nodiscard]] std::vector<std::uint64_t> ids_in(const StressCase& stress, detail::SlotHeader* slot);

}  // namespace weir::test
