#include "tests/program/photo_folder.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/photo_source.hpp"

namespace weir::test {

std::string fresh_path(const std::string& name) {
  // Removed at the end of the test program, which is why they are remembered.
  static const struct Paths {
    ~Paths() {
      std::error_code ignored;
      for (const std::filesystem::path& path : paths) std::filesystem::remove_all(path, ignored);
    }
    mutable std::set<std::filesystem::path> paths;
  } made;
  // Test programs of several builds may run side by side, and two tests of one may use a name.
  static std::atomic<int> count = 0;
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) /
                                     fmt::format("weir_{}_{}_{}", ::getpid(), ++count, name);
  std::filesystem::remove_all(path);
  made.paths.insert(path);
  return path.string();
}

std::string temporary_file(const std::string& name, const std::string& text) {
  const std::string path = fresh_path(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

PhotoFolder::PhotoFolder(const std::string& name, int count, int bad) : path_(fresh_path(name)) {
  detail::PhotoSourceOptions options;
  options.width = 96;
  options.height = 72;
  options.classes = 3;
  options.bad_share = bad / 100.0;
  const detail::PhotoSource source(options);
  for (int i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint64_t>(i);
    const std::filesystem::path folder =
        std::filesystem::path(path_) / source.classes()[static_cast<std::size_t>(source.label(id))];
    std::filesystem::create_directories(folder);
    const std::vector<std::uint8_t> bytes = source.encoded(id);
    std::ofstream(folder / fmt::format("{:05}.jpg", i), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (source.bad(id)) ++bad_count_;
  }
}

PhotoFolder::~PhotoFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weir::test
