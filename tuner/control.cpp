#include "tuner/control.hpp"

#include <chrono>
#include <csignal>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace weir::detail {

/// Invariants: tasks_ is touched on the loop's own thread alone.
class Control::Loop {
 public:
  Loop() : work_(boost::asio::make_work_guard(io_)) {
    // Signals are for the program's threads, so this one is born with all of them blocked.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Loop() {
    work_.reset();
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void add(std::uint64_t id, Step step) {
    boost::asio::post(io_, [this, id, step = std::move(step)]() mutable {
      tasks_.emplace(id, std::make_unique<Task>(io_, std::move(step)));
      run_task(id);
    });
  }
  void remove(std::uint64_t id) {
    std::promise<void> done;
    boost::asio::post(io_, [this, id, &done] {
      tasks_.erase(id);  // cancels its timer
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  struct Task {
    Task(boost::asio::io_context& io, Step body) : timer(io), step(std::move(body)) {}
    boost::asio::steady_timer timer;
    Step step;
  };

  void run() {
    pthread_setname_np(pthread_self(), "weir-control");
    io_.run();
  }
  void run_task(std::uint64_t id) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return;  // removed after its timer had expired
    Task& task = *found->second;
    const double seconds = task.step();
    if (seconds < 0) return;
    task.timer.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds)));
    task.timer.async_wait([this, id](const boost::system::error_code& error) {
      if (!error) run_task(id);
    });
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::map<std::uint64_t, std::unique_ptr<Task>> tasks_;
  std::thread thread_;  // last: it uses the others
};

Control::Control() = default;
Control::~Control() = default;

Control& Control::instance() {
  // Never destroyed: a loader that lives in a static object may detach after this one's turn.
  static Control* const kControl = new Control;
  return *kControl;
}

std::uint64_t Control::add(Step step) {
  const MutexLock lock(mutex_);
  if (!loop_) loop_ = std::make_unique<Loop>();
  ++tasks_;
  const std::uint64_t id = ++last_task_;
  loop_->add(id, std::move(step));
  return id;
}

void Control::remove(std::uint64_t task) {
  const MutexLock lock(mutex_);
  loop_->remove(task);
  if (--tasks_ == 0) loop_.reset();
}

}  // namespace weir::detail
