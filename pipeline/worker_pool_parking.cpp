#include "pipeline/worker_pool.hpp"

#include <algorithm>
#include <cstddef>

namespace weir::detail {

// Parking and sleeping. The workers that may be unparked are the first A, which have the best
// places.

void WorkerPool::count_unparked(int change) {
  const Nanoseconds now = monotonic_now();
  const int before = unparked_.load(std::memory_order_relaxed);
  if (unparked_since_ != 0)
    unparked_ns_ += static_cast<double>(now - unparked_since_) * static_cast<double>(before);
  unparked_since_ = now;
  const int after = before + change;
  unparked_.store(after, std::memory_order_seq_cst);
  if (after > peak_unparked_.load(std::memory_order_relaxed))
    peak_unparked_.store(after, std::memory_order_relaxed);
}

void WorkerPool::unpark_up_to_active() {
  const int active = active_.load(std::memory_order_seq_cst);
  while (!parked_.empty() && unparked_.load(std::memory_order_relaxed) < active) {
    const auto first = std::min_element(parked_.begin(), parked_.end());
    if (*first >= active) return;  // The threads of those below have yet to start.
    Worker& worker = *workers_[static_cast<std::size_t>(*first)];
    parked_.erase(first);
    worker.parked = false;
    worker.signalled = true;
    count_unparked(1);
    worker.wake.notify_one();
  }
}

void WorkerPool::settle_parking() {
  if (!settings_.threads) return;
  MutexLock lock(sleep_mutex_);
  const int active = active_.load(std::memory_order_seq_cst);
  // Sleepers need no packet boundary: they are parked where they sleep.
  for (std::size_t i = sleepers_.size(); i-- > 0;) {
    const int id = sleepers_[i];
    if (id < active) continue;
    sleepers_.erase(sleepers_.begin() + static_cast<std::ptrdiff_t>(i));
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    workers_[static_cast<std::size_t>(id)]->parked = true;
    parked_.push_back(id);
    count_unparked(-1);
  }
  unpark_up_to_active();
}

void WorkerPool::start_parked_or_not(int id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  MutexLock lock(sleep_mutex_);
  parked_.push_back(id);
  worker.parked = true;
  if (id < active_.load(std::memory_order_seq_cst)) unpark_up_to_active();
  while (!worker.signalled && !stop_.load(std::memory_order_seq_cst)) lock.wait(worker.wake);
}

bool WorkerPool::park(int id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  {
    MutexLock lock(sleep_mutex_);
    if (id < active_.load(std::memory_order_seq_cst)) return false;
    worker.parked = true;
    worker.signalled = false;
    parked_.push_back(id);
    count_unparked(-1);
    unpark_up_to_active();  // One with a better place may have been waiting for this.
  }
  wake_if_choosable(worker);  // It may have been woken for work that it leaves to another now.
  MutexLock lock(sleep_mutex_);
  while (!worker.signalled && !stop_.load(std::memory_order_seq_cst)) lock.wait(worker.wake);
  return true;
}

void WorkerPool::sleep(int id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  {
    MutexLock lock(sleep_mutex_);
    if (id >= active_.load(std::memory_order_seq_cst)) return;  // to be parked instead
    worker.signalled = false;
    sleepers_.push_back(id);
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
  }
  // Whoever makes a stage runnable stores that first and then reads sleeping_; here it is the other
  // way round, so that one of the two sees the other.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const bool choosable = look(*read(worker), worker.views);
  worker.reading.store(nullptr, std::memory_order_seq_cst);
  MutexLock lock(sleep_mutex_);
  if (choosable && !worker.signalled && !worker.parked) {
    sleepers_.erase(std::find(sleepers_.begin(), sleepers_.end(), id));
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    return;
  }
  while (!worker.signalled && !stop_.load(std::memory_order_seq_cst)) lock.wait(worker.wake);
}

void WorkerPool::wake_one() {
  MutexLock lock(sleep_mutex_);
  if (sleepers_.empty()) return;
  const int id = sleepers_.back();
  sleepers_.pop_back();
  sleeping_.fetch_sub(1, std::memory_order_seq_cst);
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  worker.signalled = true;
  worker.wake.notify_one();
}

}  // namespace weir::detail
