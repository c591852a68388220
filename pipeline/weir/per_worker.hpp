#pragma once

#include <type_traits>
#include <utility>

namespace weir {

/// Marks a factory whose result each worker makes for itself, at its first item of the stage: a
/// decoder handle, a model, scratch. The stage's function gets a reference to it in front.
template <class Make>
struct PerWorker {
  Make make;
  using State = std::invoke_result_t<const Make&>;
};

template <class Make>
[[nodiscard]] PerWorker<Make> per_worker(Make make) {
  return PerWorker<Make>{std::move(make)};
}

}  // namespace weir
