#include "src/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <weir/error.hpp>

namespace weir::program {
namespace {

/// 0, or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void guard_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    // open() gives the lowest free number, which is this one. Read-only, so that a write fails.
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
      static_cast<void>(::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

void write_output(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return;
  if (error == EPIPE) throw OutputClosed{};
  throw Error(ErrorKind::cannot, "standard output",
              std::string("cannot be written: ") + std::strerror(error));
}

void write_notice(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

}  // namespace weir::program
