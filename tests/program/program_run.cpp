#include "tests/program/program_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <stdexcept>
#include <utility>

namespace weir::test {
namespace {

/// A pipe whose ends close with it.
struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int end) {
    if (ends[end] >= 0) ::close(std::exchange(ends[end], -1));
  }
  int ends[2] = {-1, -1};
};

struct Running {
  pid_t process = -1;
  Pipe out;
  Pipe err;
};

void start(Running& running, const std::string& program, const std::vector<std::string>& arguments,
           Output output, const std::string& folder) {
  std::vector<char*> words;
  std::string first = program;
  words.push_back(first.data());
  std::vector<std::string> copies = arguments;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);

  running.process = ::fork();
  if (running.process < 0) throw std::runtime_error("fork");
  if (running.process == 0) {
    // Whatever the test runner ignores or blocks is not the program's business.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_DFL);
    ::dup2(running.err.ends[1], STDERR_FILENO);
    if (output == Output::full) {
      ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
    } else if (output == Output::closed) {
      ::close(STDOUT_FILENO);
    } else {
      ::dup2(running.out.ends[1], STDOUT_FILENO);
    }
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
    ::execv(program.c_str(), words.data());
    ::_exit(127);
  }
  running.out.close_end(1);
  running.err.close_end(1);
  if (output == Output::broken) running.out.close_end(0);
}

/// Reads both ends until both are closed; `on_err` is called after each piece of standard error,
/// `look` at least every few milliseconds where there is one.
template <class OnErr>
void read_all(Running& running, ProgramEnd& end, OnErr on_err,
              const std::function<void(int)>& look = nullptr) {
  while (running.out.ends[0] >= 0 || running.err.ends[0] >= 0) {
    pollfd polled[] = {{running.out.ends[0], POLLIN, 0}, {running.err.ends[0], POLLIN, 0}};
    if (::poll(polled, 2, look ? 5 : -1) < 0 && errno != EINTR) throw std::runtime_error("poll");
    if (look) look(running.process);
    for (int i = 0; i < 2; ++i) {
      if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      char piece[4096];
      const ssize_t count = ::read(polled[i].fd, piece, sizeof piece);
      if (count <= 0) {
        (i == 0 ? running.out : running.err).close_end(0);
        continue;
      }
      (i == 0 ? end.out : end.err).append(piece, static_cast<std::size_t>(count));
      if (i == 1) on_err();
    }
  }
}

void wait_for(const Running& running, ProgramEnd& end) {
  int status = 0;
  while (::waitpid(running.process, &status, 0) < 0 && errno == EINTR) {
  }
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& arguments, Output output,
                       const std::string& folder) {
  Running running;
  ProgramEnd end;
  start(running, WEIR_TEST_PROGRAM, arguments, output, folder);
  read_all(running, end, [] {});
  wait_for(running, end);
  return end;
}

ProgramEnd run_command(const std::string& program, const std::vector<std::string>& arguments,
                       const std::function<void(int process)>& look) {
  Running running;
  ProgramEnd end;
  start(running, program, arguments, Output::read, "");
  read_all(
      running, end, [] {}, look);
  wait_for(running, end);
  return end;
}

ProgramEnd interrupt_program(const std::vector<std::string>& arguments,
                             const std::vector<int>& signals) {
  Running running;
  ProgramEnd end;
  start(running, WEIR_TEST_PROGRAM, arguments, Output::read, "");
  bool sent = false;
  read_all(running, end, [&] {
    if (std::exchange(sent, true)) return;
    for (const int number : signals) ::kill(running.process, number);
  });
  wait_for(running, end);
  return end;
}

}  // namespace weir::test
