#include "machine/read_ring.hpp"

#include <weir/mutex.hpp>

#ifdef WEIR_WITH_IO_URING
#include <liburing.h>

#include <cerrno>
#include <system_error>
#endif

namespace weir {

#ifdef WEIR_WITH_IO_URING
namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

/// Locking: the two sides of the ring share nothing, so each has its own mutex. Whoever waits holds
/// the completion side and marks what he finds there done, also for the others; so nobody waits
/// inside the kernel for what somebody else has taken out of the ring.
///
/// Invariants: at most `entries_` operations are under way, so that no completion is lost.
class KernelRing final : public ReadRing {
 public:
  static std::unique_ptr<KernelRing> open(unsigned entries, std::string& refusal) {
    io_uring ring{};
    const int error = ::io_uring_queue_init(entries, &ring, 0);
    if (error != 0) {
      refusal = "io_uring_setup: " + reason_of(-error);
      return nullptr;
    }
    std::unique_ptr<KernelRing> made(new KernelRing(ring, entries));
    io_uring_probe* probe = ::io_uring_get_probe_ring(&ring);
    const bool reads = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_READ) != 0;
    ::io_uring_free_probe(probe);
    if (reads) return made;
    refusal = "the kernel's io_uring does not know plain reads";
    return nullptr;
  }
  ~KernelRing() override { ::io_uring_queue_exit(&ring_); }

  bool start(Operation& operation, int descriptor, std::byte* to, std::size_t bytes) override {
    if (under_way_.fetch_add(1, std::memory_order_relaxed) < entries_) {
      const MutexLock lock(submission_);
      io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
      if (entry != nullptr) {
        operation.done.store(false, std::memory_order_relaxed);
        ::io_uring_prep_read(entry, descriptor, to, static_cast<unsigned>(bytes), 0);
        ::io_uring_sqe_set_data(entry, &operation);
        const int submitted = ::io_uring_submit(&ring_);
        if (submitted == 1) return true;
        // It stays in the queue and goes with the next submission; the owner has been told no, so
        // it must do nothing by then.
        ::io_uring_prep_nop(entry);
        ::io_uring_sqe_set_data(entry, nullptr);
      }
    }
    under_way_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }

  void wait(Operation& operation) override {
    while (!operation.done.load(std::memory_order_acquire)) {
      const MutexLock lock(completion_);
      take_completions();
      if (operation.done.load(std::memory_order_acquire)) return;
      io_uring_cqe* ended = nullptr;
      static_cast<void>(::io_uring_wait_cqe(&ring_, &ended));  // EINTR and the like: look again.
      take_completions();
    }
  }

 private:
  KernelRing(const io_uring& ring, unsigned entries) : ring_(ring), entries_(entries) {}

  void take_completions() WEIR_REQUIRES(completion_) {
    io_uring_cqe* ended = nullptr;
    while (::io_uring_peek_cqe(&ring_, &ended) == 0 && ended != nullptr) {
      auto* operation = static_cast<Operation*>(::io_uring_cqe_get_data(ended));
      const int result = ended->res;
      ::io_uring_cqe_seen(&ring_, ended);
      if (operation == nullptr) continue;
      under_way_.fetch_sub(1, std::memory_order_relaxed);
      operation->result = result;
      // Releases the result, and after this line the operation is its owner's again.
      operation->done.store(true, std::memory_order_release);
    }
  }

  io_uring ring_;  // its submission side under submission_, its completion side under completion_
  const unsigned entries_;
  Mutex submission_;
  Mutex completion_;
  std::atomic<unsigned> under_way_{0};
};

}  // namespace

std::unique_ptr<ReadRing> open_read_ring(unsigned entries, std::string& refusal) {
  return KernelRing::open(entries, refusal);
}
#else
std::unique_ptr<ReadRing> open_read_ring(unsigned, std::string& refusal) {
  refusal = "this build has no liburing";
  return nullptr;
}
#endif

}  // namespace weir
