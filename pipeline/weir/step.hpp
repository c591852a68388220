#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/sample_operator.hpp>
#include <weir/slot.hpp>
#include <weir/stage_options.hpp>

namespace weir::detail {

/// What an operator is told of the packet that it works on.
struct OperatorRun {
  std::uint64_t seed = 0;
  std::uint32_t operator_index = 0;
  int worker = 0;
  std::stop_token stop;
  const std::string* stage = nullptr;
  BadSamplePolicy policy;
  bool stage_has_policy = false;
  BatchArena* arena = nullptr;              ///< where results may be placed; null: nowhere
  const std::uint64_t* ordinals = nullptr;  ///< place in the epoch of each item, with an arena
  /// Set by an operator that knows that every slot of `out` is live and carries no note, which
  /// spares the stage a look at each.
  bool all_live = false;
  /// Where an operator that does the work of several adds up whose time it was, see Context::lap();
  /// null: nobody asks.
  std::int64_t* laps = nullptr;
};

/// The run-time form of one map, filter or flat_map. Called by several workers at once, one virtual
/// call a packet.
class WEIR_EXPORT Operator {
 public:
  virtual ~Operator();
  /// Consumes the live slots `in` and fills `out`: live, tombstone, failed or blank. Never throws:
  /// an exception of the user's becomes a FailureNote.
  virtual void process(SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
                       OperatorRun& run) = 0;
};

/// The run-time form of `batch`.
class WEIR_EXPORT Gatherer {
 public:
  virtual ~Gatherer();
  /// Makes one batch of `rows`, each live or blank, and empties them. A failure becomes a note.
  virtual void gather(std::span<SlotHeader* const> rows, SlotHeader* out, OperatorRun& run) = 0;
};

/// How the items inside the result of a flat_map call are reached: by their place in a container
/// that is held whole, or one after another from a generator (then `pull` is set and the others are
/// not).
struct SplitType {
  const SlotType* item;
  /// How many items the live slot holds.
  std::size_t (*count)(const SlotHeader* container);
  /// Moves item `i` into the empty slot `to`; distinct items may be moved at once.
  void (*take)(SlotHeader* container, std::size_t i, SlotHeader* to);
  /// Fills the empty slot with the next item; false at the end. May throw what the user's does.
  bool (*pull)(SlotHeader* container, SlotHeader* to);
};

/// One pass over a source that has no index.
class WEIR_EXPORT SourcePass {
 public:
  virtual ~SourcePass();
  /// Fills the empty slot with the next value, or returns false at the end. May throw what the
  /// user's function throws.
  virtual bool next(SlotHeader* out) = 0;
};

class LookAhead;
struct LookAheadSettings;

/// Where items come from: indexable (`size()` known) or one pass after another.
class WEIR_EXPORT Source {
 public:
  virtual ~Source();
  [[nodiscard]] virtual const SlotType& type() const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const = 0;
  /// Indexable: fills the empty slot with item `sample_id`.
  virtual void make(std::uint64_t sample_id, SlotHeader* out) const;
  /// Not indexable: begins a pass.
  [[nodiscard]] virtual std::unique_ptr<SourcePass> begin_pass(std::uint32_t epoch,
                                                               std::uint32_t repeat) const;
  [[nodiscard]] virtual std::int32_t label(std::uint64_t sample_id) const;
  /// What an error message calls the sample: a path, or "sample 17".
  [[nodiscard]] virtual std::string describe(std::uint64_t sample_id) const;
  [[nodiscard]] virtual const std::vector<std::string>& classes() const;
  /// What asks for the items of one run ahead of its first stage; null: the source has no use for
  /// it.
  [[nodiscard]] virtual std::shared_ptr<LookAhead> look_ahead(
      const LookAheadSettings& settings) const;
  /// One line for the user about what was found ("3 hidden files skipped"); empty: nothing.
  [[nodiscard]] virtual std::string remark() const;
};

struct ShardPlace {
  int rank = 0;
  int world = 1;
  enum class Remainder { pad, drop, uneven } remainder = Remainder::pad;
};

/// One written operator. Immutable; streams that share a beginning share its steps, which is why
/// they are counted by reference.
struct Step {
  enum class Kind {
    source,
    map,
    filter,
    flat_map,
    batch,
    shuffle,
    shuffle_buffer,
    repeat,
    take,
    skip,
    shard,
    prefetch
  };
  Kind kind = Kind::source;
  std::string name;
  std::string written;  ///< the operator's name, whatever the stage is called
  StageOptions options;
  std::shared_ptr<const Step> previous;
  const SlotType* output = nullptr;
  std::shared_ptr<const Source> source;                      ///< source
  std::function<std::unique_ptr<Operator>()> make_operator;  ///< map, filter, flat_map
  std::function<std::unique_ptr<Gatherer>()> make_gatherer;  ///< batch
  const SplitType* split = nullptr;                          ///< flat_map
  std::uint64_t count = 0;      ///< batch size, buffer, repeat, take, skip, prefetch depth
  bool drop_remainder = false;  ///< batch
  bool places_rows = false;     ///< batch of samples: rows are written in place
  ShardPlace shard;
  std::shared_ptr<const SampleOperator> sample_operator;  ///< map, of a built-in operator
  bool built_in = false;
  bool cheap = false;  ///< costs less than a hop
};

}  // namespace weir::detail
