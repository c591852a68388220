#pragma once

#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/batch.hpp>
#include <weir/error.hpp>
#include <weir/per_worker.hpp>
#include <weir/step.hpp>

/// The typed operators behind Stream: what turns user functions into detail::Operator.
namespace weir::detail {

/// The exception in flight as a note of the fatal kind.
[[nodiscard]] WEIR_EXPORT FailureNote failure_note(const SampleInfo& info,
                                                   const std::string& stage);

/// Turns the exception in flight into a note in `out`, by the policy of `run`; `in` is emptied by
/// the caller. Returns true when the policy is to replace.
[[nodiscard]] WEIR_EXPORT bool record_failure(const SlotHeader& in, SlotHeader* out,
                                              const OperatorRun& run);

/// Adds the exception in flight, of a replacement, as a note that ends the run.
WEIR_EXPORT void record_fatal(SlotHeader* out, const OperatorRun& run);

template <class F, class T>
concept TakesValue = std::is_invocable_v<F&, T&&> || std::is_invocable_v<F&, T&>;
template <class F, class T>
concept TakesValueAndContext =
    std::is_invocable_v<F&, T&&, Context&> || std::is_invocable_v<F&, T&, Context&>;

template <class F, class T>
decltype(auto) call(F& f, T& value, Context& context) {
  if constexpr (std::is_invocable_v<F&, T&&, Context&>)
    return f(std::move(value), context);
  else if constexpr (std::is_invocable_v<F&, T&, Context&>)
    return f(value, context);
  else if constexpr (std::is_invocable_v<F&, T&&>)
    return f(std::move(value));
  else
    return f(value);
}

template <class F, class T>
using CallResult = std::remove_cvref_t<decltype(call(std::declval<F&>(), std::declval<T&>(),
                                                     std::declval<Context&>()))>;

/// A function with state that each worker makes for itself. The slots are made at once for the most
/// workers there may be, so that workers never wait for one another.
template <class Make, class F>
class PerWorkerFunction {
 public:
  using State = typename PerWorker<Make>::State;
  static constexpr std::size_t kMostWorkers = 4096;  ///< as many as may be asked for

  PerWorkerFunction(PerWorker<Make> make, F f)
      : make_(std::move(make)), f_(std::move(f)), states_(kMostWorkers) {}
  PerWorkerFunction(const PerWorkerFunction& other)
      : make_(other.make_), f_(other.f_), states_(kMostWorkers) {}

  template <class T>
  requires std::is_invocable_v<F&, State&, T&&, Context&> || std::is_invocable_v<F&, State&, T&&>
  auto operator()(T&& value, Context& context) {
    std::unique_ptr<State>& state = states_[static_cast<std::size_t>(context.worker())];
    if (!state) state = std::make_unique<State>(make_.make());
    if constexpr (std::is_invocable_v<F&, State&, T&&, Context&>)
      return f_(*state, std::forward<T>(value), context);
    else
      return f_(*state, std::forward<T>(value));
  }

 private:
  PerWorker<Make> make_;
  F f_;
  std::vector<std::unique_ptr<State>> states_;  ///< each owned by one worker
};

/// The loop common to all typed operators: `work(in, out, context)` fills `out` or throws.
template <class T, class U, class Work, class Replace>
void for_each_item(SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
                   OperatorRun& run, Work&& work, Replace&& replace) {
  if (count == 0) return;
  bool all_live = true;
  Context context(run.seed, run.operator_index, in[0]->info, run.worker, run.stop);
  for (std::size_t i = 0; i < count; ++i) {
    auto& source = static_cast<Slot<T>&>(*in[i]);
    auto& target = static_cast<Slot<U>&>(*out[i]);
    target.info = source.info;
    target.replaced = source.replaced;
    if (source.notes) {
      target.notes = std::move(source.notes);
      all_live = false;
    }
    try {
      context.begin_item(source.info);
      context.count_laps(run.laps);
      if (run.arena != nullptr) context.place_in(run.arena, run.ordinals[i]);
      work(source, target, context);
      all_live = all_live && target.state == SlotState::live;
    } catch (...) {
      all_live = false;
      if (record_failure(source, &target, run)) {
        try {
          replace(target);
        } catch (...) {
          record_fatal(&target, run);
        }
      }
    }
    source.reset();
  }
  run.all_live = all_live;
}

template <class T, class U, class F>
class MapOperator final : public Operator {
 public:
  MapOperator(F f, std::function<U()> replacement)
      : f_(std::move(f)), replacement_(std::move(replacement)) {}
  void process(SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
               OperatorRun& run) override {
    for_each_item<T, U>(
        in, out, count, run,
        [this](Slot<T>& source, Slot<U>& target, Context& context) {
          target.emplace(call(f_, source.value(), context));
        },
        [this](Slot<U>& target) {
          if (replacement_) target.emplace(replacement_());
        });
  }

 private:
  F f_;
  std::function<U()> replacement_;
};

/// Says of a stand-in that was filtered out that no row stands for it.
inline void forget_replaced(SlotHeader& slot) {
  slot.replaced = false;
  if (!slot.notes) return;
  for (FailureNote& note : *slot.notes) note.replaced = false;
}

template <class T, class F>
class FilterOperator final : public Operator {
 public:
  explicit FilterOperator(F f) : f_(std::move(f)) {}
  void process(SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
               OperatorRun& run) override {
    for_each_item<T, T>(
        in, out, count, run,
        [this](Slot<T>& source, Slot<T>& target, Context& context) {
          const T& value = source.value();
          bool keep = false;
          if constexpr (std::is_invocable_v<F&, const T&, Context&>)
            keep = f_(value, context);
          else
            keep = f_(value);
          if (keep) {
            target.emplace(std::move(source.value()));
          } else {
            target.state = SlotState::tombstone;
            forget_replaced(target);
          }
        },
        [](Slot<T>&) {});
  }

 private:
  F f_;
};

/// What one call of a flat_map function gave, held whole until the last item has moved on.
template <class U>
struct Expansion {
  std::vector<U> items;
};
template <class U>
std::size_t bytes_of(const Expansion<U>& expansion) {
  return weir::bytes_of(expansion.items);
}

template <class U>
const SplitType& split_type() {
  static const SplitType type{
      &slot_type<U>(),
      [](const SlotHeader* slot) {
        auto* typed = const_cast<Slot<Expansion<U>>*>(static_cast<const Slot<Expansion<U>>*>(slot));
        return typed->value().items.size();
      },
      [](SlotHeader* slot, std::size_t i, SlotHeader* to) {
        auto* typed = static_cast<Slot<Expansion<U>>*>(slot);
        auto* target = static_cast<Slot<U>*>(to);
        target->emplace(std::move(typed->value().items[i]));
      },
      nullptr,
  };
  return type;
}

/// What a generator gives: std::optional<U> from a call without arguments, until nullopt.
template <class G>
struct GeneratedBy {};
template <class G>
requires requires(G& generator) {
  typename std::invoke_result_t<G&>::value_type;
} && std::is_same_v<std::invoke_result_t<G&>,
                    std::optional<typename std::invoke_result_t<G&>::value_type>>
struct GeneratedBy<G> {
  using type = typename std::invoke_result_t<G&>::value_type;
};
template <class G>
concept Generates = requires {
  typename GeneratedBy<G>::type;
};

/// A generator that one call of a flat_map function gave, asked for its items as there is room.
template <class G>
struct Unfolding {
  std::unique_ptr<G> generator;
};

template <class G>
const SplitType& unfold_type() {
  using U = typename GeneratedBy<G>::type;
  static const SplitType type{
      &slot_type<U>(),
      nullptr,
      nullptr,
      [](SlotHeader* slot, SlotHeader* to) {
        auto* typed = static_cast<Slot<Unfolding<G>>*>(slot);
        std::optional<U> item = (*typed->value().generator)();
        if (!item) return false;
        static_cast<Slot<U>*>(to)->emplace(std::move(*item));
        return true;
      },
  };
  return type;
}

template <class T, class G, class F>
class UnfoldOperator final : public Operator {
 public:
  explicit UnfoldOperator(F f) : f_(std::move(f)) {}
  void process(SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
               OperatorRun& run) override {
    for_each_item<T, Unfolding<G>>(
        in, out, count, run,
        [this](Slot<T>& source, Slot<Unfolding<G>>& target, Context& context) {
          target.emplace(Unfolding<G>{std::make_unique<G>(call(f_, source.value(), context))});
        },
        [](Slot<Unfolding<G>>&) {});
  }

 private:
  F f_;
};

template <class T, class U, class F>
class ExpandOperator final : public Operator {
 public:
  explicit ExpandOperator(F f) : f_(std::move(f)) {}
  void process(SlotHeader* const* in, SlotHeader* const* out, std::size_t count,
               OperatorRun& run) override {
    for_each_item<T, Expansion<U>>(
        in, out, count, run,
        [this](Slot<T>& source, Slot<Expansion<U>>& target, Context& context) {
          using Range = decltype(call(f_, source.value(), context));
          decltype(auto) range = call(f_, source.value(), context);
          Expansion<U> expansion;
          if constexpr (std::is_reference_v<Range> || std::ranges::view<Range>) {
            // The items are somebody else's and stay as they are.
            for (auto&& item : range) expansion.items.push_back(std::forward<decltype(item)>(item));
          } else if constexpr (std::is_same_v<Range, std::vector<U>>) {
            expansion.items = std::move(range);
          } else {
            for (auto&& item : range) expansion.items.push_back(std::move(item));
          }
          target.emplace(std::move(expansion));
        },
        [](Slot<Expansion<U>>&) {});
  }

 private:
  F f_;
};

/// Collects values in a Batch<T>, or in what the user's collate function makes of a vector of them.
template <class T, class B, class Collate>
class CollectGatherer final : public Gatherer {
 public:
  explicit CollectGatherer(Collate collate) : collate_(std::move(collate)) {}
  void gather(std::span<SlotHeader* const> rows, SlotHeader* out, OperatorRun& run) override {
    auto& target = static_cast<Slot<B>&>(*out);
    try {
      std::vector<T> values;
      values.reserve(rows.size());
      for (SlotHeader* row : rows) {
        if (row->state == SlotState::blank) {
          if constexpr (std::is_default_constructible_v<T>)
            values.emplace_back();
          else
            throw BadSample(
                "a bad sample cannot be replaced here: give the stage a replacement, "
                "the value has no default");
        } else {
          values.push_back(std::move(static_cast<Slot<T>*>(row)->value()));
        }
      }
      B batch = collate_(std::move(values));
      batch.begin_rows(rows.empty() ? 0 : rows.front()->info.epoch, rows.size());
      for (const SlotHeader* row : rows)
        batch.add_row({row->info.sample_id, row->info.label, row->info.split,
                       row->replaced || row->state == SlotState::blank});
      target.emplace(std::move(batch));
    } catch (...) {
      if (!rows.empty()) (void)record_failure(*rows.front(), out, run);
    }
    for (SlotHeader* row : rows) static_cast<Slot<T>*>(row)->reset();
  }

 private:
  Collate collate_;
};

/// Stacks samples column by column; rows that the last stage placed in the batch's memory stay
/// there.
[[nodiscard]] WEIR_EXPORT std::unique_ptr<Gatherer> make_sample_gatherer(std::uint64_t rows,
                                                                         bool pad);

}  // namespace weir::detail
