#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/options.hpp>
#include <weir/slot.hpp>
#include <weir/stream.hpp>
#include <weir/summary.hpp>
#include <weir/telemetry.hpp>

namespace weir {

/// A mark inside a consumer's step: the end of its computation.
enum class Step { compute_end };

namespace detail {

/// The part of a loader that does not depend on the value's type.
class LoaderCore;
struct LoaderCoreDeleter {
  WEIR_EXPORT void operator()(LoaderCore* core) const;
};

/// The untyped half of Loader; see there.
class WEIR_EXPORT LoaderBase {
 public:
  LoaderBase(std::shared_ptr<const detail::Step> step, const Options& options);
  LoaderBase(LoaderBase&&) noexcept = default;
  LoaderBase& operator=(LoaderBase&&) noexcept = default;
  ~LoaderBase() = default;

  /// Stops everything and joins; next() returns nullopt from then on. Returns within a second plus
  /// the longest user call under way. May be called from any thread, and while another is in
  /// next().
  void close();

  [[nodiscard]] Summary summary() const;
  [[nodiscard]] Snapshot telemetry() const;
  [[nodiscard]] Allocation allocation() const;
  /// Sets the knobs by hand, clamped to the budget. Throws Error(usage) when the number of stages
  /// is another.
  void set_allocation(const Allocation& allocation);
  /// Depth of the queue behind stage `name`, in items. Throws Error(usage) for an unknown stage.
  void resize_queue(const std::string& stage, std::int64_t items);
  void mark(weir::Step step);
  /// After what next() handed over last. Throws Error(usage) with `order: any`.
  [[nodiscard]] Position position() const;
  [[nodiscard]] const std::vector<std::string>& classes() const;
  /// Batches (or items without a batch stage) of one epoch; behind a filter, flat_map or a source
  /// without an index this is an upper bound or nothing.
  struct EpochSize {
    std::optional<std::uint64_t> batches;
    bool exact = false;
  };
  [[nodiscard]] EpochSize batches_per_epoch() const;
  /// Lines for the user: files skipped, tuned file loaded or solved again, types without bytes_of.
  [[nodiscard]] std::vector<std::string> remarks() const;

 protected:
  /// The slot with the next value of epoch `epoch` or of any, or null at the end of one.
  [[nodiscard]] detail::SlotHeader* next_slot();
  void begin_epoch(std::uint32_t epoch);
  void release_slot();

 private:
  std::unique_ptr<LoaderCore, LoaderCoreDeleter> core_;
};

}  // namespace detail

/// The consumer's end of a running pipeline.
///
///     auto loader = pipeline.start(options);
///     for (int epoch = 0; epoch < 90; ++epoch)
///       for (auto& batch : loader.epoch(epoch)) train(batch);
///
/// Thread safety: next(), epoch(), mark() and position() belong to one consumer thread; everything
/// else may be called from any thread. Destruction closes; it must not run beside next().
template <class T>
class Loader : public detail::LoaderBase {
 public:
  using detail::LoaderBase::LoaderBase;

  /// The next value; nullopt once at the end of each epoch and, after the last epoch or close(),
  /// for good. Throws the first failure, in index order: Error, with stage, sample id and path (the
  /// user's own exception is nested in it).
  [[nodiscard]] std::optional<T> next() {
    detail::SlotHeader* slot = next_slot();
    if (slot == nullptr) return std::nullopt;
    std::optional<T> value(std::move(static_cast<detail::Slot<T>*>(slot)->value()));
    release_slot();
    return value;
  }

  /// The values of one epoch, for a range-based for.
  class Epoch {
   public:
    explicit Epoch(Loader* loader) : loader_(loader) {}
    class Iterator {
     public:
      using value_type = T;
      using difference_type = std::ptrdiff_t;
      explicit Iterator(Epoch* epoch) : epoch_(epoch) { ++*this; }
      Iterator& operator++() {
        epoch_->current_.reset();
        // Constructed and not assigned: a value need only be movable.
        if (std::optional<T> value = epoch_->loader_->next())
          epoch_->current_.emplace(std::move(*value));
        return *this;
      }
      void operator++(int) { ++*this; }
      T& operator*() const { return *epoch_->current_; }
      bool operator==(std::default_sentinel_t) const { return !epoch_->current_; }

     private:
      Epoch* epoch_;
    };
    [[nodiscard]] Iterator begin() { return Iterator(this); }
    [[nodiscard]] std::default_sentinel_t end() const { return {}; }

   private:
    Loader* loader_;
    std::optional<T> current_;
  };

  /// Epoch `number`, continuing without a pause when it is the next one, starting there otherwise.
  [[nodiscard]] Epoch epoch(std::uint32_t number) {
    begin_epoch(number);
    return Epoch(this);
  }
};

template <class T>
Loader<T> Stream<T>::start(const Options& options) const {
  return Loader<T>(step_, options);
}
template <class T>
Loader<T> Stream<T>::start() const {
  return start(Options{});
}

}  // namespace weir
