#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/storage.hpp"

namespace weir::test {

/// The kernel's files behind a delay: a file has to be waited for until `latency` after it was
/// asked for, by a hint where `takes_hints`, by a read through a ring, or else by the read itself.
class SlowStorage final : public detail::Storage {
 public:
  using Clock = std::chrono::steady_clock;

  std::chrono::microseconds latency{2000};
  bool takes_hints = true;
  bool has_rings = true;
  std::atomic<int> rings_asked_for{0};

  int open(const char* path) override {
    const int descriptor = files_->open(path);
    if (descriptor >= 0) set_arrival(descriptor, Clock::time_point::max());
    return descriptor;
  }
  void will_need(int descriptor) override {
    if (takes_hints) set_arrival(descriptor, Clock::now() + latency);
  }
  std::ptrdiff_t read(int descriptor, std::byte* to, std::size_t bytes,
                      std::uint64_t offset) override {
    Clock::time_point arrival = arrival_of(descriptor);
    if (arrival == Clock::time_point::max()) {
      arrival = Clock::now() + latency;
      set_arrival(descriptor, arrival);
    }
    std::this_thread::sleep_until(arrival);
    return files_->read(descriptor, to, bytes, offset);
  }
  std::ptrdiff_t read_cached(int descriptor, std::byte* to, std::size_t bytes) override {
    if (arrival_of(descriptor) > Clock::now()) {
      errno = EAGAIN;
      return -1;
    }
    return files_->read(descriptor, to, bytes, 0);
  }
  std::unique_ptr<ReadRing> open_ring(unsigned entries, std::string& refusal) override {
    ++rings_asked_for;
    if (has_rings) return std::make_unique<Ring>(*this, entries);
    refusal = "not in this test";
    return nullptr;
  }

 private:
  /// Reads at once, and is done `latency` later.
  class Ring final : public ReadRing {
   public:
    Ring(SlowStorage& storage, unsigned entries) : storage_(storage), entries_(entries) {}
    bool start(Operation& operation, int descriptor, std::byte* to, std::size_t bytes) override {
      const std::lock_guard lock(mutex_);
      if (under_way_.size() >= entries_) return false;
      operation.done = false;
      operation.result = static_cast<int>(storage_.files_->read(descriptor, to, bytes, 0));
      under_way_.emplace(Clock::now() + storage_.latency, &operation);
      return true;
    }
    void wait(Operation& operation) override {
      while (!operation.done) {
        Clock::time_point next;
        {
          const std::lock_guard lock(mutex_);
          while (!under_way_.empty() && under_way_.begin()->first <= Clock::now()) {
            under_way_.begin()->second->done = true;
            under_way_.erase(under_way_.begin());
          }
          if (operation.done) return;
          next = under_way_.begin()->first;
        }
        std::this_thread::sleep_until(next);
      }
    }

   private:
    SlowStorage& storage_;
    const unsigned entries_;
    std::mutex mutex_;
    std::set<std::pair<Clock::time_point, Operation*>> under_way_;
  };

  void set_arrival(int descriptor, Clock::time_point at) {
    arrivals_[static_cast<std::size_t>(descriptor) % kMost] = at.time_since_epoch();
  }
  Clock::time_point arrival_of(int descriptor) {
    return Clock::time_point(arrivals_[static_cast<std::size_t>(descriptor) % kMost].load());
  }

  static constexpr std::size_t kMost = 4096;
  const std::shared_ptr<detail::Storage> files_ = detail::kernel_storage();
  std::atomic<Clock::duration> arrivals_[kMost]{};
};

}  // namespace weir::test
