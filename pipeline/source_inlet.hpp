#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/mutex.hpp>
#include <weir/step.hpp>

#include "pipeline/index_map.hpp"
#include "pipeline/inlet.hpp"
#include "pipeline/look_ahead.hpp"

namespace weir::detail {

/// A `repeat` that stands behind something that is no function of the index: the whole source is
/// gone through again, with a marker between the passes.
struct OuterRepeat {
  std::uint64_t times = 1;
  std::uint32_t step = 0;  ///< operator number of the innermost such repeat
};

/// The source as the first stage sees it: always ready until the last epoch's end.
///
/// An indexable source costs nothing per item but its place; values are made by the claiming
/// worker. Ahead of the claims the next items are asked for (LookAhead), and the ticket is kept
/// until the item is made. A source without an index is read by one worker at a time.
///
/// Thread safety: as Inlet.
/// Invariants: 1. an epoch is size() * passes items, a pass_end behind each pass but the last, and
/// one epoch_end; 2. next_ counts both items and markers.
class SourceInlet final : public Inlet {
 public:
  struct Settings {
    std::string name;  ///< as written, for messages
    std::shared_ptr<const Source> source;
    BadSamplePolicy on_bad_sample;
    std::optional<IndexMap> map;  ///< none: the source has no index
    OuterRepeat outer;
    std::uint32_t first_epoch = 0;
    std::uint64_t first_place = 0;           ///< in the first epoch, over all passes
    std::optional<std::uint32_t> end_epoch;  ///< one past the last
    std::shared_ptr<LookAhead> ahead;        ///< makes the items; null: the source does
  };
  explicit SourceInlet(Settings settings);
  ~SourceInlet() override;

  [[nodiscard]] bool claim(Packet& packet, const ClaimLimits& limits) override;
  void materialise(Packet& packet) override;
  void finish(Packet&) override {}
  [[nodiscard]] bool charges_slots() const override { return false; }
  [[nodiscard]] ReadingSnapshot reading() const {
    return settings_.ahead ? settings_.ahead->snapshot() : ReadingSnapshot{};
  }
  [[nodiscard]] bool exclusive() const { return !settings_.map.has_value(); }

  /// The rest of the pass that `info` belongs to will not be used: goes on with its end.
  void end_pass(const SampleInfo& info);
  /// Nothing more is given out.
  void halt();

 private:
  void claim_indexed(Packet& packet, std::uint64_t count) WEIR_REQUIRES(mutex_);
  void finish_pass(SlotHeader* marker) WEIR_REQUIRES(mutex_);
  void publish() WEIR_REQUIRES(mutex_);
  void materialise_indexed(Packet& packet);
  /// Turns the exception in flight into the slot's failure; one that ends the run ends the source.
  void fail(SlotHeader& slot, const BadSamplePolicy& policy);
  void materialise_pass(Packet& packet);
  void hint_ahead(const Packet& packet);
  void keep_hint(std::uint64_t number, int ticket);
  [[nodiscard]] int take_hint(std::uint64_t number);
  /// The number under which look-ahead knows an item. Not the stream index: a pass that ends early
  /// gives the indexes of the items that were asked for to others.
  [[nodiscard]] std::uint64_t asked(std::uint32_t epoch, std::uint32_t pass,
                                    std::uint64_t place) const {
    const std::uint64_t passes =
        std::uint64_t{epoch - settings_.first_epoch} * settings_.outer.times + pass;
    return passes * pass_size_ + place;
  }
  [[nodiscard]] Located locate_next(std::uint64_t place) WEIR_REQUIRES(mutex_);

  const Settings settings_;
  const std::uint64_t pass_size_;  ///< items of one pass; kNoIndex without an index
  Mutex mutex_;
  std::uint64_t next_ WEIR_GUARDED_BY(mutex_) = 0;  ///< stream index of the next item or marker
  std::uint32_t epoch_ WEIR_GUARDED_BY(mutex_);
  std::uint32_t pass_ WEIR_GUARDED_BY(mutex_) = 0;
  std::uint64_t place_ WEIR_GUARDED_BY(mutex_) = 0;  ///< in the pass
  bool halted_ WEIR_GUARDED_BY(mutex_) = false;
  std::unique_ptr<IndexMap::Walk> walk_ WEIR_GUARDED_BY(mutex_);

  // A source without an index: of the one worker that holds the claim.
  bool cut_short_ WEIR_GUARDED_BY(mutex_) = false;
  std::unique_ptr<SourcePass> pass_reader_;
  std::uint64_t serial_sample_ = 0;

  // Look-ahead, a ring by asked(); an entry is (asked << 32 | ticket + 1), and (asked << 32) once
  // the item was made, so that a hint that comes later than the item is given back.
  std::uint64_t hinted_ WEIR_GUARDED_BY(mutex_) = 0;
  std::vector<std::atomic<std::uint64_t>> hints_;
};

}  // namespace weir::detail
