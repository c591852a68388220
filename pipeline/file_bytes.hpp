#pragma once

#include <cstddef>
#include <string>

#include <weir/buffer.hpp>
#include <weir/file.hpp>

#include "pipeline/storage.hpp"

/// How one file's bytes are got, and what is said where that fails: BadSample of the file, Error of
/// the process. See Path::read().
namespace weir::detail {

/// Closes what it holds.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int descriptor) : descriptor_(descriptor) {}
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;
  ~OwnDescriptor();

 private:
  const int descriptor_;
};

/// Throws for a file that could not be opened.
[[noreturn]] void refuse_open(const std::string& path, int error);
/// The size that an open file seems to have. Throws for what is no regular file.
[[nodiscard]] std::size_t size_of(int descriptor);
/// One byte more than the file seems to have tells its end from its growth.
[[nodiscard]] Buffer buffer_for(std::size_t size);
/// Reads on from `filled` to the end of a file that seemed to have `size` bytes, and returns what
/// is filled then. The buffer grows where the file did.
[[nodiscard]] std::size_t read_rest(Storage& storage, int descriptor, Buffer& buffer,
                                    std::size_t filled, std::size_t size);
/// The whole file of a path that belongs to no run; `descriptor` is closed; -1: none is open yet.
[[nodiscard]] Buffer read_once(const Path& path, int descriptor);

}  // namespace weir::detail
