#include "pipeline/file_bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

std::string reason_of(const char* call, int error) {
  return std::string(call) + ": " + std::generic_category().message(error);
}

}  // namespace

OwnDescriptor::~OwnDescriptor() { ::close(descriptor_); }

void refuse_open(const std::string& path, int error) {
  // These say nothing about the file, so that skipping it would lose good data.
  if (error == EMFILE || error == ENFILE || error == ENOMEM)
    throw Error(ErrorKind::cannot, path, reason_of("open", error));
  throw BadSample(reason_of("open", error));
}

std::size_t size_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw BadSample(reason_of("fstat", errno));
  if (!S_ISREG(status.st_mode)) throw BadSample("not a regular file");
  return static_cast<std::size_t>(status.st_size);
}

Buffer buffer_for(std::size_t size) { return Buffer(size + 1); }

std::size_t read_rest(Storage& storage, int descriptor, Buffer& buffer, std::size_t filled,
                      std::size_t size) {
  while (true) {
    if (filled == buffer.capacity()) {
      Buffer larger(buffer.capacity() * 2);
      std::memcpy(larger.data(), buffer.data(), filled);
      buffer = std::move(larger);
    }
    const std::ptrdiff_t count =
        storage.read(descriptor, buffer.data() + filled, buffer.capacity() - filled, filled);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw BadSample(reason_of("pread", errno));
    }
    if (count == 0) return filled;
    filled += static_cast<std::size_t>(count);
    if (filled == size) return filled;
  }
}

Buffer read_once(const Path& path, int descriptor) {
  Storage& storage = *kernel_storage();
  if (descriptor < 0) descriptor = storage.open(path.string().c_str());
  if (descriptor < 0) refuse_open(path.string(), errno);
  const OwnDescriptor file(descriptor);
  const std::size_t size = size_of(descriptor);
  Buffer buffer = buffer_for(size);
  buffer.resize_within(read_rest(storage, descriptor, buffer, 0, size));
  return buffer;
}

}  // namespace weir::detail
