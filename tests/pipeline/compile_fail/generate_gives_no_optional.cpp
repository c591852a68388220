// expect: weir: generate(): begin() must return a function that gives std::optional<T>
#include <weir/sources.hpp>

void compose() {
  (void)weir::generate("numbers", [] { return [] { return 3; }; });
}
