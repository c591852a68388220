#include "pipeline/storage.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace weir::detail {
namespace {

class KernelStorage final : public Storage {
 public:
  int open(const char* path) override {
    // O_NONBLOCK: a FIFO that took the file's place must not hold a worker for ever.
    return ::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  }
  void will_need(int descriptor) override {
    // A hint that is refused costs time later and no data.
    static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_WILLNEED));
  }
  std::ptrdiff_t read(int descriptor, std::byte* to, std::size_t bytes,
                      std::uint64_t offset) override {
    return ::pread(descriptor, to, bytes, static_cast<off_t>(offset));
  }
  std::ptrdiff_t read_cached(int descriptor, std::byte* to, std::size_t bytes) override {
    iovec part{to, bytes};
    return ::preadv2(descriptor, &part, 1, 0, RWF_NOWAIT);
  }
  std::unique_ptr<ReadRing> open_ring(unsigned entries, std::string& refusal) override {
    return open_read_ring(entries, refusal);
  }
};

}  // namespace

std::shared_ptr<Storage> kernel_storage() {
  static const std::shared_ptr<Storage> storage = std::make_shared<KernelStorage>();
  return storage;
}

}  // namespace weir::detail
