#pragma once

#include <cstdio>
#include <cstdlib>

namespace weir::fuzz {

/// Ends the program, which libFuzzer takes for a finding, where what must hold does not.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stdout, "does not hold: %s\n", what);
  std::fflush(stdout);
  std::abort();
}

}  // namespace weir::fuzz
