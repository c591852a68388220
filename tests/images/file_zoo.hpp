#pragma once

#include <string>
#include <vector>

#include "tests/images/pictures.hpp"

namespace weir::test {

/// One file of a kind, and what is to become of it.
struct ZooFile {
  enum class Fate { ok, noted, bad };
  std::string name;
  Bytes bytes;
  Fate fate = Fate::ok;
  std::string words = {};  ///< the reason or the note has them
};

/// A small file of every kind: each format in its variants, each oddity, each damage.
std::vector<ZooFile> file_zoo();

}  // namespace weir::test
