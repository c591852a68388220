#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/stream.hpp>

namespace weir {

/// The files below `root`, sorted; a folder is listed at once. Throws Error(usage).
[[nodiscard]] WEIR_EXPORT Stream<Path> files(const std::string& root,
                                             const FilesOptions& options = {});
/// The files that a list names, one `path[,label]` a line, in its order.
[[nodiscard]] WEIR_EXPORT Stream<Path> list_file(const std::string& path,
                                                 const std::string& classes_file = "");
/// 0 .. count-1.
[[nodiscard]] WEIR_EXPORT Stream<std::int64_t> range(std::int64_t count);

namespace detail {

WEIR_EXPORT std::shared_ptr<Step> source_step(std::string name,
                                              std::shared_ptr<const Source> source,
                                              std::string identity);

/// A function of the index, with a known number of items.
template <class T, class Make>
class IndexedSource final : public Source {
 public:
  IndexedSource(std::uint64_t size, Make make) : size_(size), make_(std::move(make)) {}
  [[nodiscard]] const SlotType& type() const override { return slot_type<T>(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }
  void make(std::uint64_t sample_id, SlotHeader* out) const override {
    static_cast<Slot<T>*>(out)->emplace(make_(sample_id));
  }

 private:
  std::uint64_t size_;
  mutable Make make_;  ///< not const for functions that are not; workers share it either way
};

template <class T, class Begin>
class PassSource final : public Source {
 public:
  explicit PassSource(Begin begin) : begin_(std::move(begin)) {}
  [[nodiscard]] const SlotType& type() const override { return slot_type<T>(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }
  [[nodiscard]] std::unique_ptr<SourcePass> begin_pass(std::uint32_t epoch,
                                                       std::uint32_t) const override {
    if constexpr (std::is_invocable_v<const Begin&, std::uint32_t>)
      return std::make_unique<Pass<std::invoke_result_t<const Begin&, std::uint32_t>>>(
          begin_(epoch));
    else
      return std::make_unique<Pass<std::invoke_result_t<const Begin&>>>(begin_());
  }

 private:
  template <class Next>
  struct Pass final : SourcePass {
    explicit Pass(Next function) : next_value(std::move(function)) {}
    bool next(SlotHeader* out) override {
      std::optional<T> value = next_value();
      if (!value) return false;
      static_cast<Slot<T>*>(out)->emplace(std::move(*value));
      return true;
    }
    Next next_value;
  };
  Begin begin_;
};

}  // namespace detail

/// `count` values that `make(index)` gives; it is called by several workers at once.
template <class Make>
[[nodiscard]] auto indexed(std::string name, std::uint64_t count, Make make) {
  using T = std::remove_cvref_t<std::invoke_result_t<Make&, std::uint64_t>>;
  return Stream<T>(detail::source_step(
      std::move(name), std::make_shared<detail::IndexedSource<T, Make>>(count, std::move(make)),
      ""));
}

/// The values of a vector, copied for each epoch.
template <class T>
[[nodiscard]] Stream<T> from(std::vector<T> values) {
  static_assert(
      std::is_copy_constructible_v<T>,
      "weir: from(): the values are copied for each epoch; use indexed() or generate() for "
      "values that only move");
  auto shared = std::make_shared<const std::vector<T>>(std::move(values));
  const std::uint64_t count = shared->size();
  return indexed("values", count, [shared](std::uint64_t i) { return (*shared)[i]; });
}

/// A source without an index: `begin()` or `begin(epoch)` is called at the start of each pass and
/// returns a function that gives std::optional<T> until nullopt. One worker at a time runs it.
/// Passes must give the same values each time if runs are to repeat.
template <class Begin>
[[nodiscard]] auto generate(std::string name, Begin begin) {
  using Next = typename decltype([] {
    if constexpr (std::is_invocable_v<Begin&, std::uint32_t>)
      return std::type_identity<std::invoke_result_t<Begin&, std::uint32_t>>{};
    else
      return std::type_identity<std::invoke_result_t<Begin&>>{};
  }())::type;
  if constexpr (!detail::Generates<Next>) {
    static_assert(detail::kNever<Begin>,
                  "weir: generate(): begin() must return a function that gives std::optional<T>");
  } else {
    using T = typename detail::GeneratedBy<Next>::type;
    return Stream<T>(detail::source_step(
        std::move(name), std::make_shared<detail::PassSource<T, Begin>>(std::move(begin)), ""));
  }
}

/// The values between two iterators that `range()` gives anew for each pass.
template <class MakeRange>
[[nodiscard]] auto iterate(std::string name, MakeRange make_range) {
  using Range = std::invoke_result_t<MakeRange&>;
  using T = std::remove_cvref_t<decltype(*std::begin(std::declval<Range&>()))>;
  auto begin = [make_range = std::move(make_range)] {
    struct State {
      explicit State(Range r) : range(std::move(r)), at(std::begin(range)) {}
      Range range;
      decltype(std::begin(std::declval<Range&>())) at;
    };
    // Shared because the function that holds it is copied into std types.
    auto state = std::make_shared<State>(make_range());
    return [state]() -> std::optional<T> {
      if (state->at == std::end(state->range)) return std::nullopt;
      std::optional<T> value(*state->at);
      ++state->at;
      return value;
    };
  };
  return generate(std::move(name), std::move(begin));
}

}  // namespace weir
