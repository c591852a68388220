#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/batch.hpp>
#include <weir/bytes_of.hpp>
#include <weir/context.hpp>
#include <weir/digest.hpp>

namespace weir::detail {

/// What a slot of an edge holds, and therefore what the next stage does with it.
enum class SlotState : std::uint8_t {
  empty,      ///< nothing: not yet produced, or already moved on
  live,       ///< a value: work on it
  tombstone,  ///< filtered, or a place that a renumbering left over: pass it on
  failed,     ///< a bad sample: pass it on to where order is kept; see FailureNote
  blank,      ///< a bad sample that becomes a row of zeros in the batch
  pass_end,   ///< the end of one pass of `repeat`, see SlotHeader::marker_step
  epoch_end,  ///< the end of an epoch
};

/// One bad sample on its way, in index order, to the place where limits are judged.
struct FailureNote {
  SampleInfo info;
  std::string stage;
  std::string reason;
  bool own_policy = false;  ///< the stage's, so that its limits count its samples alone
  bool fatal = true;        ///< the policy is `fail`, or the exception may not be skipped
  bool replaced = false;
  double limit_count = -1;  ///< `max` of the policy as a count; negative: none
  double limit_rate = -1;   ///< `max` of the policy as a rate
  std::exception_ptr exception;
};

/// Notes that a slot carries, in index order. Rare, so the allocation does not matter.
using FailureNotes = std::vector<FailureNote>;

/// The untyped part of a slot.
struct SlotHeader {
  SampleInfo info;
  std::unique_ptr<FailureNotes> notes;
  std::uint32_t marker_step = 0;  ///< of a pass_end: the operator number of its `repeat`
  SlotState state = SlotState::empty;
  bool replaced = false;  ///< the value stands in for a bad sample
  /// Of an epoch_end: good rows behind the marker before it that filled no batch; more than fit
  /// count as the most that fits.
  std::uint16_t dropped_rows = 0;

  /// Takes over everything but the value.
  void take_header(SlotHeader& other) {
    info = other.info;
    notes = std::move(other.notes);
    marker_step = other.marker_step;
    state = other.state;
    replaced = other.replaced;
    dropped_rows = other.dropped_rows;
  }
  /// Empty from here on. Requires: the value, if any, has ended or needs no end.
  void clear() {
    state = SlotState::empty;
    replaced = false;
    dropped_rows = 0;
    notes.reset();
  }
};

/// One place of an edge: the header and room for one value, constructed only while the state is
/// live.
template <class T>
struct Slot : SlotHeader {
  alignas(T) std::byte storage[sizeof(T)];

  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() { reset(); }

  [[nodiscard]] T& value() { return *std::launder(reinterpret_cast<T*>(storage)); }
  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    ::new (static_cast<void*>(storage)) T(std::forward<Arguments>(arguments)...);
    state = SlotState::live;
  }
  /// Destroys the value, if any; the slot is empty afterwards.
  void reset() {
    if (state == SlotState::live) value().~T();
    clear();
  }
};

/// What an edge needs to know of the type that it carries, so that edges are no templates.
struct SlotType {
  std::size_t size;        ///< of a slot
  std::size_t value_size;  ///< of the value alone
  std::size_t alignment;
  void (*construct)(void* place);                  ///< an empty slot
  void (*destroy)(SlotHeader* slot);               ///< ends the slot's life
  void (*reset)(SlotHeader* slot);                 ///< empties it
  void (*move)(SlotHeader* from, SlotHeader* to);  ///< value and header; `from` becomes empty
  std::size_t (*bytes)(const SlotHeader* slot);    ///< payload of a live slot
  std::size_t (*rows)(const SlotHeader* slot);     ///< samples in a live slot
  /// Digests a live slot; null where the type has no digest.
  void (*digest)(const SlotHeader* slot, DeliveryDigest& digest);
  bool fixed_bytes;    ///< bytes() is the same for each value
  bool reports_bytes;  ///< false: sizeof stands in, worth a warning
  bool one_row;        ///< rows() is 1 for each value
  bool trivial_end;    ///< a value needs no destructor

  /// reset() and rows() where the hand-over of tiny values counts each call.
  void empty(SlotHeader& slot) const {
    if (trivial_end)
      slot.clear();
    else
      reset(&slot);
  }
  [[nodiscard]] std::size_t rows_of(const SlotHeader* slot) const {
    return one_row ? 1 : rows(slot);
  }
};

template <class T>
std::size_t slot_rows(const T& value) {
  if constexpr (std::is_base_of_v<BatchRows, T>)
    return value.size();
  else
    return 1;
}

template <class T>
constexpr bool has_digest() {
  if constexpr (std::is_base_of_v<BatchRows, T>)
    return DigestibleRows<T>;
  else
    return Digestible<T>;
}

template <class T>
void digest_slot(const SlotHeader* slot, DeliveryDigest& digest) {
  auto* typed = const_cast<Slot<T>*>(static_cast<const Slot<T>*>(slot));
  const T& value = typed->value();
  if constexpr (std::is_base_of_v<BatchRows, T>) {
    for (std::size_t row = 0; row < value.size(); ++row) {
      digest.begin_row(value.epoch(), value.ids()[row], value.splits()[row]);
      digest_row(digest, value, row);
      digest.end_row();
    }
  } else {
    digest.begin_row(slot->info.epoch, slot->info.sample_id, slot->info.split);
    digest_value(digest, value);
    digest.end_row();
  }
  digest.end_delivery();
}

template <class T>
constexpr auto digest_function() -> void (*)(const SlotHeader*, DeliveryDigest&) {
  if constexpr (has_digest<T>())
    return &digest_slot<T>;
  else
    return nullptr;
}

template <class T>
const SlotType& slot_type() {
  static const SlotType type{
      sizeof(Slot<T>),
      sizeof(T),
      alignof(Slot<T>),
      [](void* place) { ::new (place) Slot<T>(); },
      [](SlotHeader* slot) { static_cast<Slot<T>*>(slot)->~Slot<T>(); },
      [](SlotHeader* slot) { static_cast<Slot<T>*>(slot)->reset(); },
      [](SlotHeader* from, SlotHeader* to) {
        auto* source = static_cast<Slot<T>*>(from);
        auto* target = static_cast<Slot<T>*>(to);
        const bool live = source->state == SlotState::live;
        if (live) target->emplace(std::move(source->value()));
        target->take_header(*source);
        if (live) source->value().~T();
        source->state = SlotState::empty;
        source->replaced = false;
      },
      [](const SlotHeader* slot) {
        auto* typed = const_cast<Slot<T>*>(static_cast<const Slot<T>*>(slot));
        return payload_bytes(typed->value());
      },
      [](const SlotHeader* slot) {
        auto* typed = const_cast<Slot<T>*>(static_cast<const Slot<T>*>(slot));
        return slot_rows(typed->value());
      },
      digest_function<T>(),
      has_fixed_bytes<T>(),
      reports_bytes<T>(),
      !std::is_base_of_v<BatchRows, T>,
      std::is_trivially_destructible_v<T>,
  };
  return type;
}

}  // namespace weir::detail
