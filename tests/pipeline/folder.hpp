#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace weir::test {

/// A folder of its own for one test, gone with it.
class Folder {
 public:
  Folder() {
    std::string form = (std::filesystem::temp_directory_path() / "weir_test_XXXXXX").string();
    if (::mkdtemp(form.data()) == nullptr) throw std::runtime_error("mkdtemp " + form);
    path_ = form;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  /// Writes a file, and the folders above it.
  std::string write(const std::string& name, const std::string& text = "x") const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace weir::test
