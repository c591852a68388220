#include <cstring>
#include <iostream>

#include <weir/version.hpp>

// Links a symbol that lives in the library.
int main() {
  if (std::strcmp(weir::version(), WEIR_VERSION) != 0) return 1;
  std::cout << "weir " << weir::version() << "\n";
  return 0;
}
