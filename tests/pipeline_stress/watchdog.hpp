#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace weir::test {

/// Ends the program with a message when its scope lasts longer than a run could: a hang fails.
class Watchdog {
 public:
  explicit Watchdog(std::string what, std::chrono::seconds most = std::chrono::seconds(60))
      : what_(std::move(what)), thread_([this, most] {
          std::unique_lock<std::mutex> lock(mutex_);
          if (ended_.wait_for(lock, shortened(most), [this] { return over_; })) return;
          std::fprintf(stderr, "watchdog: %s hangs\n", what_.c_str());
          std::abort();
        }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  /// WEIR_WATCHDOG_SECONDS, where a hang is what is expected.
  [[nodiscard]] static std::chrono::seconds shortened(std::chrono::seconds most) {
    const char* text = std::getenv("WEIR_WATCHDOG_SECONDS");
    return text == nullptr ? most : std::chrono::seconds(std::strtol(text, nullptr, 10));
  }

  std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace weir::test
