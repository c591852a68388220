#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <weir/export.hpp>
#include <weir/file.hpp>
#include <weir/file_index.hpp>
#include <weir/operator.hpp>
#include <weir/sample_operator.hpp>

namespace weir {

struct Options;
template <class T>
class Loader;

struct ShuffleOptions {
  std::uint64_t buffer = 0;  ///< 0: the whole epoch, by a keyed bijection of the index
};

struct BatchOptions {
  bool drop_remainder = false;
  bool pad = false;  ///< samples of unequal shape: pad with zeros to the largest
  StageOptions stage = {};
};

struct ShardOptions {
  std::optional<int> rank = {};  ///< none: from the launcher's environment
  std::optional<int> world = {};
  detail::ShardPlace::Remainder remainder = detail::ShardPlace::Remainder::pad;
};

namespace detail {

WEIR_EXPORT std::shared_ptr<Step> next_step(std::shared_ptr<const Step> previous, Step::Kind kind,
                                            std::string name, StageOptions options = {});
WEIR_EXPORT std::shared_ptr<Step> read_step(std::shared_ptr<const Step> previous,
                                            StageOptions options, bool as_samples);
WEIR_EXPORT ShardPlace shard_place(const ShardOptions& options);

/// False, but only once the template is used: for messages in place of a page of them.
template <class>
inline constexpr bool kNever = false;

template <class F, class T>
concept Callable = TakesValue<F, T> || TakesValueAndContext<F, T>;
template <class F, class State, class T>
concept CallableWithState =
    std::is_invocable_v<F&, State&, T&&> || std::is_invocable_v<F&, State&, T&> ||
    std::is_invocable_v<F&, State&, T&&, Context&> || std::is_invocable_v<F&, State&, T&, Context&>;
template <class R>
concept Iterable = requires(R& range) {
  *std::begin(range);
  std::end(range);
};

template <class F, class T>
using Expanded = std::remove_cvref_t<decltype(*std::begin(
    std::declval<std::add_lvalue_reference_t<CallResult<F, T>>>()))>;

}  // namespace detail

/// A pipeline being composed: the sequence of operators so far, of which `T` is the result. Every
/// operator gives a new stream; the old one stays valid and may be continued another way.
///
/// A function given to an operator takes the value (by value, reference or const reference) and, if
/// it wants it, a Context&. It is called by several workers at once; what it shares it must
/// protect, what each worker needs for itself weir::per_worker gives.
///
/// start() is defined in <weir/loader.hpp>.
///
/// Thread safety: an immutable value; copies are cheap and may be used from different threads.
template <class T>
class Stream {
  static_assert(std::is_move_constructible_v<T>, "weir: Stream<T>: T must be movable");

 public:
  using value_type = T;
  using Kind = detail::Step::Kind;

  explicit Stream(std::shared_ptr<const detail::Step> step) : step_(std::move(step)) {}

  /// Calls `f` for each value; the results are the new stream.
  template <class F>
  [[nodiscard]] auto map(std::string name, F f, StageOptions options = {}) const {
    return map(std::move(name), std::move(f), std::move(options), nullptr);
  }
  /// The same with a function that makes the value that stands in for a bad sample under the policy
  /// `replace`.
  template <class F, class Replacement>
  [[nodiscard]] auto map(std::string name, F f, StageOptions options,
                         Replacement replacement) const {
    if constexpr (!detail::Callable<F, T>) {
      static_assert(detail::kNever<F>,
                    "weir: map(): the function takes neither (T) nor (T, Context&), "
                    "where T is the value type of the stream in front of it");
    } else if constexpr (std::is_void_v<detail::CallResult<F, T>>) {
      static_assert(detail::kNever<F>, "weir: map(): the function must return the new value");
    } else {
      using U = detail::CallResult<F, T>;
      static_assert(
          std::is_constructible_v<std::function<U()>, Replacement>,
          "weir: map(): the replacement takes nothing and returns what the function does");
      std::shared_ptr<detail::Step> step = next(Kind::map, std::move(name), std::move(options));
      step->output = &detail::slot_type<U>();
      if constexpr (std::is_same_v<F, SampleMap>) {
        step->built_in = true;
        step->cheap = f.op().cheap();
        if constexpr (std::is_same_v<T, Sample>) step->sample_operator = f.shared();
      }
      step->make_operator = [f = std::move(f),
                             replacement = std::function<U()>(std::move(replacement))] {
        return std::make_unique<detail::MapOperator<T, U, F>>(f, replacement);
      };
      return Stream<U>(std::move(step));
    }
  }

  /// The same with state that each worker makes for itself: `f` takes (State&, T) or
  /// (State&, T, Context&).
  template <class Make, class F>
  [[nodiscard]] auto map(std::string name, PerWorker<Make> make, F f,
                         StageOptions options = {}) const {
    if constexpr (!detail::CallableWithState<F, typename PerWorker<Make>::State, T>)
      static_assert(
          detail::kNever<F>,
          "weir: map(): the function takes neither (State&, T) nor (State&, T, Context&), "
          "where State is what per_worker makes and T the value type of the stream");
    else
      return map(std::move(name), detail::PerWorkerFunction<Make, F>(std::move(make), std::move(f)),
                 std::move(options));
  }

  /// Keeps the values for which `f` is true.
  template <class F>
  [[nodiscard]] Stream filter(std::string name, F f, StageOptions options = {}) const {
    if constexpr (!std::is_invocable_r_v<bool, F&, const T&> &&
                  !std::is_invocable_r_v<bool, F&, const T&, Context&>) {
      static_assert(
          detail::kNever<F>,
          "weir: filter(): the function takes neither (const T&) nor (const T&, Context&) "
          "to bool, where T is the value type of the stream in front of it");
      return *this;
    } else {
      std::shared_ptr<detail::Step> step = next(Kind::filter, std::move(name), std::move(options));
      step->output = &detail::slot_type<T>();
      step->make_operator = [f = std::move(f)] {
        return std::make_unique<detail::FilterOperator<T, F>>(f);
      };
      return Stream(std::move(step));
    }
  }

  /// Calls `f` for each value; the items of the range that it returns are the new stream. A range
  /// is held whole. Where that is too much, `f` returns a generator, a function that gives
  /// std::optional<U> until nullopt: it is asked for the next item when there is room, by one
  /// worker at a time.
  template <class F>
  [[nodiscard]] auto flat_map(std::string name, F f, StageOptions options = {}) const {
    if constexpr (!detail::Callable<F, T>) {
      static_assert(detail::kNever<F>,
                    "weir: flat_map(): the function takes neither (T) nor (T, Context&), "
                    "where T is the value type of the stream in front of it");
    } else {
      return flatten(next(Kind::flat_map, std::move(name), std::move(options)), std::move(f));
    }
  }

  /// Reads each file whole. Requires: a stream of paths.
  [[nodiscard]] Stream<File> read(StageOptions options = {}) const {
    static_assert(std::is_same_v<T, Path>, "weir: read(): the stream in front gives no paths");
    return Stream<File>(detail::read_step(step_, std::move(options), false));
  }
  /// Reads each file into a Sample: column `image` holds the bytes, `label` the class number.
  [[nodiscard]] Stream<Sample> read_samples(StageOptions options = {}) const {
    static_assert(std::is_same_v<T, Path>,
                  "weir: read_samples(): the stream in front gives no paths");
    return Stream<Sample>(detail::read_step(step_, std::move(options), true));
  }

  /// `size` consecutive values each.
  [[nodiscard]] Stream<Batch<T>> batch(std::uint64_t size, BatchOptions options = {}) const {
    std::shared_ptr<detail::Step> step = batch_step(size, options);
    step->output = &detail::slot_type<Batch<T>>();
    if constexpr (std::is_same_v<T, Sample>) {
      step->built_in = true;
      step->places_rows = !options.pad;
      step->make_gatherer = [size, pad = options.pad] {
        return detail::make_sample_gatherer(size, pad);
      };
    } else {
      auto collate = [](std::vector<T> values) {
        Batch<T> result;
        result.storage() = std::move(values);
        return result;
      };
      step->make_gatherer = [collate] {
        return std::make_unique<detail::CollectGatherer<T, Batch<T>, decltype(collate)>>(collate);
      };
    }
    return Stream<Batch<T>>(std::move(step));
  }

  /// The same with a collate function of one's own: std::vector<T> to any movable value.
  template <class Collate>
  requires(!std::is_same_v<Collate, BatchOptions>)
      [[nodiscard]] auto batch(std::uint64_t size, Collate collate,
                               BatchOptions options = {}) const {
    if constexpr (!std::is_invocable_v<Collate&, std::vector<T>>)
      static_assert(detail::kNever<Collate>,
                    "weir: batch(): the collate function takes no std::vector<T>, "
                    "where T is the value type of the stream in front of it");
    else
      return collated(size, std::move(collate), options);
  }

  /// Another order in every epoch (and pass of a later repeat), by the seed alone. Over an
  /// indexable source the whole epoch costs no memory; `buffer` is for streams without an index.
  [[nodiscard]] Stream shuffle(ShuffleOptions options = {}) const {
    std::shared_ptr<detail::Step> step =
        next(options.buffer == 0 ? Kind::shuffle : Kind::shuffle_buffer, "shuffle");
    step->output = &detail::slot_type<T>();
    step->count = options.buffer;
    return Stream(std::move(step));
  }
  /// Each epoch holds the stream `times` times over.
  [[nodiscard]] Stream repeat(std::uint64_t times) const {
    return counted(Kind::repeat, "repeat", times);
  }
  /// At most the first `count` values of each epoch.
  [[nodiscard]] Stream take(std::uint64_t count) const {
    return counted(Kind::take, "take", count);
  }
  /// All but the first `count` values of each epoch.
  [[nodiscard]] Stream skip(std::uint64_t count) const {
    return counted(Kind::skip, "skip", count);
  }
  /// Every world-th value from `rank` on.
  [[nodiscard]] Stream shard(ShardOptions options = {}) const {
    std::shared_ptr<detail::Step> step = next(Kind::shard, "shard");
    step->output = &detail::slot_type<T>();
    step->shard = detail::shard_place(options);
    return Stream(std::move(step));
  }
  /// The depth of the queue here, in items (after batch: in batches).
  [[nodiscard]] Stream prefetch(std::uint64_t depth) const {
    return counted(Kind::prefetch, "prefetch", depth);
  }

  /// Starts the workers and returns the consumer's end. Throws Error.
  [[nodiscard]] Loader<T> start(const Options& options) const;
  [[nodiscard]] Loader<T> start() const;

  [[nodiscard]] const std::shared_ptr<const detail::Step>& step() const { return step_; }

 private:
  template <class F>
  [[nodiscard]] auto flatten(std::shared_ptr<detail::Step> step, F f) const {
    using Result = detail::CallResult<F, T>;
    if constexpr (detail::Generates<Result>) {
      step->output = &detail::slot_type<detail::Unfolding<Result>>();
      step->split = &detail::unfold_type<Result>();
      step->make_operator = [f = std::move(f)] {
        return std::make_unique<detail::UnfoldOperator<T, Result, F>>(f);
      };
      return Stream<typename detail::GeneratedBy<Result>::type>(std::move(step));
    } else if constexpr (!detail::Iterable<Result>) {
      static_assert(
          detail::kNever<F>,
          "weir: flat_map(): the function must return a range, or a generator: a function "
          "that gives std::optional<U>");
    } else {
      using U = detail::Expanded<F, T>;
      step->output = &detail::slot_type<detail::Expansion<U>>();
      step->split = &detail::split_type<U>();
      step->make_operator = [f = std::move(f)] {
        return std::make_unique<detail::ExpandOperator<T, U, F>>(f);
      };
      return Stream<U>(std::move(step));
    }
  }
  template <class Collate>
  [[nodiscard]] auto collated(std::uint64_t size, Collate collate,
                              const BatchOptions& options) const {
    using B = std::invoke_result_t<Collate&, std::vector<T>>;
    std::shared_ptr<detail::Step> step = batch_step(size, options);
    step->output = &detail::slot_type<Collated<B>>();
    auto wrap = [collate = std::move(collate)](std::vector<T> values) mutable {
      return Collated<B>(collate(std::move(values)));
    };
    step->make_gatherer = [wrap] {
      return std::make_unique<detail::CollectGatherer<T, Collated<B>, decltype(wrap)>>(wrap);
    };
    return Stream<Collated<B>>(std::move(step));
  }
  [[nodiscard]] std::shared_ptr<detail::Step> next(Kind kind, std::string name,
                                                   StageOptions options = {}) const {
    return detail::next_step(step_, kind, std::move(name), std::move(options));
  }
  [[nodiscard]] Stream counted(Kind kind, std::string name, std::uint64_t count) const {
    std::shared_ptr<detail::Step> step = next(kind, std::move(name));
    step->output = &detail::slot_type<T>();
    step->count = count;
    return Stream(std::move(step));
  }
  [[nodiscard]] std::shared_ptr<detail::Step> batch_step(std::uint64_t size,
                                                         const BatchOptions& options) const {
    std::shared_ptr<detail::Step> step = next(Kind::batch, "batch", options.stage);
    step->count = size;
    step->drop_remainder = options.drop_remainder;
    return step;
  }

  std::shared_ptr<const detail::Step> step_;
};

}  // namespace weir
