#include "src/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <weir/error.hpp>

namespace weir::program {
namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(ErrorKind::cannot, path, std::string("cannot be written: ") + std::strerror(error));
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// 0, or the error number.
int write_and_sync(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

void write_whole_file(const std::string& path, const std::string& text) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) refuse(path, errno);
  // mkostemp gives the file to its owner alone; the finished one follows the user's mask.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  static_cast<void>(::fchmod(descriptor, 0666 & ~mask));
  int error = write_and_sync(descriptor, text);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    refuse(path, error);
  }
}

void check_writable(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  struct stat status {};
  // A file takes the place of what has that name, which no device or folder should suffer.
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(ErrorKind::cannot, option,
                path + (S_ISDIR(status.st_mode) ? " is a folder" : " is no regular file") +
                    "; name a file");
  const std::string folder = folder_of(path);
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorKind::cannot, option,
                path + " cannot be written: " + folder + ": " + std::strerror(errno));
}

}  // namespace weir::program
