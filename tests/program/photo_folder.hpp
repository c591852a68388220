#pragma once

#include <string>

namespace weir::test {

/// A folder of generated photographs in folders of classes, some of them damaged, in a temporary
/// place; gone with the object.
class PhotoFolder {
 public:
  /// `bad` of a hundred are damaged.
  PhotoFolder(const std::string& name, int count, int bad);
  ~PhotoFolder();
  PhotoFolder(const PhotoFolder&) = delete;
  PhotoFolder& operator=(const PhotoFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int bad_count() const { return bad_count_; }

 private:
  std::string path_;
  int bad_count_ = 0;
};

/// A file in the temporary folder with this text; its path.
[[nodiscard]] std::string temporary_file(const std::string& name, const std::string& text);
/// A path in the temporary folder at which nothing lies, a new one at each call.
[[nodiscard]] std::string fresh_path(const std::string& name);

}  // namespace weir::test
