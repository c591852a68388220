#include "src/signal_watch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <weir/error.hpp>

#include "src/standard_output.hpp"

namespace weir::program {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kExitBase = 128;

[[noreturn]] void refuse(const char* call) {
  throw Error(ErrorKind::cannot, call, std::strerror(errno));
}

}  // namespace

SignalWatch::SignalWatch() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // What the parent ignores (nohup, a background job of a script) stays ignored.
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    sigaddset(&watched, number);
  }
  if (pthread_sigmask(SIG_BLOCK, &watched, nullptr) != 0) refuse("pthread_sigmask");
  signals_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) refuse("signalfd");
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) refuse("eventfd");
  thread_ = std::thread([this] { run(); });
}

SignalWatch::~SignalWatch() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  static_cast<void>(::eventfd_write(wake_, 1));
  thread_.join();
  unwatch();
  ::close(signals_);
  ::close(wake_);
}

void SignalWatch::watch(std::function<void()> stop, std::optional<Clock::time_point> deadline) {
  {
    MutexLock lock(mutex_);
    stop_ = std::move(stop);
    deadline_ = deadline;
    watching_ = true;
  }
  static_cast<void>(::eventfd_write(wake_, 1));
}

void SignalWatch::unwatch() {
  std::thread stopping;
  {
    MutexLock lock(mutex_);
    stop_ = nullptr;
    deadline_.reset();
    watching_ = false;
    stopping = std::move(stopping_);
  }
  if (stopping.joinable()) stopping.join();
}

int SignalWatch::milliseconds_left() const {
  MutexLock lock(mutex_);
  if (!deadline_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
  constexpr std::int64_t kMost = 3600 * 1000;
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kMost));
}

void SignalWatch::run() {
  while (true) {
    pollfd polled[] = {{signals_, POLLIN, 0}, {wake_, POLLIN, 0}};
    const int ready = ::poll(polled, 2, milliseconds_left());
    if (ready < 0 && errno != EINTR) return;
    std::uint64_t ignored = 0;
    static_cast<void>(::eventfd_read(wake_, &ignored));
    bool due = false;
    {
      MutexLock lock(mutex_);
      if (ending_) return;
      due = deadline_ && Clock::now() >= *deadline_;
    }
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      take_signal(static_cast<int>(info.ssi_signo));
    if (due) call_stop();
  }
}

void SignalWatch::take_signal(int number) {
  {
    MutexLock lock(mutex_);
    if (!watching_ || signal_.load(std::memory_order_relaxed) != 0) {
      write_notice("\n");
      ::_exit(kExitBase + number);
    }
    signal_.store(number, std::memory_order_relaxed);
  }
  call_stop();
}

void SignalWatch::call_stop() {
  MutexLock lock(mutex_);
  deadline_.reset();
  if (!stop_) return;
  stopping_ = std::thread(std::exchange(stop_, nullptr));
}

}  // namespace weir::program
