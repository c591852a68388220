#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <weir/buffer.hpp>
#include <weir/export.hpp>

namespace weir {

class FileIndex;

namespace detail {
class FileReader;
}

/// One entry of a file listing. Shares the listing, so that it stays valid wherever it is kept, and
/// carries what the look-ahead has done for the file.
class WEIR_EXPORT Path {
 public:
  Path() = default;
  /// `descriptor` is owned; -1: none.
  Path(std::shared_ptr<const FileIndex> index, std::uint64_t entry, int descriptor)
      : Path(std::move(index), entry, descriptor, nullptr) {}
  /// Of a run: `ticket` is the reader's, which `index` keeps alive.
  Path(std::shared_ptr<const FileIndex> index, std::uint64_t entry, int ticket,
       detail::FileReader* reader)
      : index_(std::move(index)), entry_(entry), reader_(reader), held_(ticket) {}
  Path(Path&& other) noexcept
      : index_(std::move(other.index_)),
        entry_(other.entry_),
        reader_(std::exchange(other.reader_, nullptr)),
        held_(std::exchange(other.held_, kNothing)) {}
  Path& operator=(Path&& other) noexcept;
  ~Path() {
    if (held_ != kNothing) let_go();
  }

  /// The full path, as bytes of the file system.
  [[nodiscard]] std::string string() const;
  /// Below the listing's root.
  [[nodiscard]] std::string relative() const;
  [[nodiscard]] std::uint64_t entry() const { return entry_; }
  [[nodiscard]] const std::shared_ptr<const FileIndex>& index() const { return index_; }
  /// The whole file. Throws BadSample with the reason, and Error(cannot) where the process has no
  /// descriptor or memory left, which says nothing about the file.
  [[nodiscard]] Buffer read();

 private:
  static constexpr int kNothing = -1;
  void let_go() noexcept;

  std::shared_ptr<const FileIndex> index_;
  std::uint64_t entry_ = 0;
  detail::FileReader* reader_ = nullptr;  ///< null: `held_` is a descriptor
  int held_ = kNothing;
};

/// A file's bytes and where they came from.
class File {
 public:
  File() = default;
  File(Path path, Buffer bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}

  [[nodiscard]] const Path& path() const { return path_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {bytes_.data(), bytes_.size()}; }
  [[nodiscard]] Buffer& buffer() { return bytes_; }

 private:
  Path path_;
  Buffer bytes_;
};

[[nodiscard]] inline std::size_t bytes_of(const Path&) { return sizeof(Path); }
[[nodiscard]] inline std::size_t bytes_of(const File& file) {
  return sizeof(File) + file.bytes().size();
}

namespace detail {

/// Path::read().
[[nodiscard]] WEIR_EXPORT Buffer read_bytes(Path& path);

}  // namespace detail
}  // namespace weir
