#pragma once

#include <condition_variable>
#include <mutex>

/// Annotations that clang's `-Wthread-safety` checks; GCC ignores them.
#if defined(__clang__)
#define WEIR_ANNOTATE(x) __attribute__((x))
#else
#define WEIR_ANNOTATE(x)
#endif
#define WEIR_CAPABILITY(x) WEIR_ANNOTATE(capability(x))
#define WEIR_SCOPED_CAPABILITY WEIR_ANNOTATE(scoped_lockable)
#define WEIR_GUARDED_BY(x) WEIR_ANNOTATE(guarded_by(x))
#define WEIR_REQUIRES(...) WEIR_ANNOTATE(requires_capability(__VA_ARGS__))
#define WEIR_EXCLUDES(...) WEIR_ANNOTATE(locks_excluded(__VA_ARGS__))
#define WEIR_ACQUIRE(...) WEIR_ANNOTATE(acquire_capability(__VA_ARGS__))
#define WEIR_RELEASE(...) WEIR_ANNOTATE(release_capability(__VA_ARGS__))
#define WEIR_TRY_ACQUIRE(...) WEIR_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define WEIR_NO_THREAD_SAFETY_ANALYSIS WEIR_ANNOTATE(no_thread_safety_analysis)

namespace weir {

/// A std::mutex that clang's thread-safety analysis knows.
class WEIR_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() WEIR_ACQUIRE() { mutex_.lock(); }
  void unlock() WEIR_RELEASE() { mutex_.unlock(); }
  [[nodiscard]] bool try_lock() WEIR_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  [[nodiscard]] std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for a scope; `lock()` and `unlock()` may be called in between.
class WEIR_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) WEIR_ACQUIRE(mutex) : lock_(mutex.native()) {}
  ~MutexLock() WEIR_RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() WEIR_RELEASE() { lock_.unlock(); }
  void lock() WEIR_ACQUIRE() { lock_.lock(); }
  /// Waits on `condition`; the mutex is held again on return.
  void wait(std::condition_variable& condition) { condition.wait(lock_); }
  /// The same with an end; false when the deadline passed.
  template <class TimePoint>
  [[nodiscard]] bool wait_until(std::condition_variable& condition, TimePoint deadline) {
    return condition.wait_until(lock_, deadline) == std::cv_status::no_timeout;
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace weir
