#include "machine/place_registry.hpp"

#include "machine/system_file.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {
namespace {

constexpr std::string_view kPrefix = "places-";
constexpr std::uint64_t kMostCpus = std::uint64_t{1} << 16;

/// A descriptor that closes, and so lets go of its lock, with its scope.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// A folder of the user's own that nobody else writes in; made where it is missing.
bool is_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode) && seen.st_uid == ::geteuid() &&
         (seen.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Planning takes milliseconds; who holds the lock for longer was stopped in the middle of it.
bool lock_within_a_moment(int descriptor) {
  for (int attempt = 0; attempt < 300; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

bool write_all(int descriptor, const std::string& text) {
  if (::ftruncate(descriptor, 0) != 0) return false;
  const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), 0);
  return written == static_cast<ssize_t>(text.size());
}

}  // namespace

std::string runtime_folder(const MachineView& view) {
  const std::string user = std::to_string(::geteuid());
  std::vector<std::string> candidates;
  const std::optional<std::string> given = view.environment("XDG_RUNTIME_DIR");
  if (given && given->starts_with('/')) candidates.push_back(*given + "/weir");
  candidates.push_back("/run/user/" + user + "/weir");
  candidates.push_back("/tmp/weir-" + user);
  for (const std::string& candidate : candidates) {
    if (is_own_folder(candidate)) return candidate;
  }
  return {};
}

PlaceRegistry::~PlaceRegistry() {
  if (own_ < 0) return;
  // Removed before the lock goes, so that nobody finds it in between and takes it for stale.
  ::unlink(own_path_.c_str());
  ::close(own_);
}

std::vector<int> PlaceRegistry::read_others() const {
  std::vector<int> taken;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (path == own_path_ || !entry->path().filename().string().starts_with(kPrefix)) continue;
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0) continue;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      ::unlink(path.c_str());  // Its process is gone.
      continue;
    }
    const std::optional<std::string> text = detail::read_system_file("", path);
    if (!text) continue;
    for (const std::string_view word : detail::split(detail::trimmed(*text), ' ')) {
      const std::optional<std::uint64_t> cpu = detail::parse_number(word);
      if (cpu && *cpu < kMostCpus) taken.push_back(static_cast<int>(*cpu));
    }
  }
  return taken;
}

bool PlaceRegistry::enter(const std::vector<int>& cpus) {
  if (own_ < 0) {
    std::string path = folder_ + "/" + std::string(kPrefix) + "XXXXXX";
    Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (file.get() < 0) return false;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      ::unlink(path.c_str());
      return false;
    }
    own_path_ = path;
    own_ = file.release();
  }
  std::string text;
  for (const int cpu : cpus) text += std::to_string(cpu) + ' ';
  return write_all(own_, text + "\n");
}

bool PlaceRegistry::settle(
    const std::function<std::vector<int>(const std::vector<int>& taken)>& plan) {
  if (folder_.empty()) return false;
  const Descriptor lock(::open((folder_ + "/lock").c_str(),
                               O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (lock.get() < 0 || !lock_within_a_moment(lock.get())) return false;
  // Whether it can be entered is known before anybody relies on it.
  if (!enter({})) return false;
  return enter(plan(read_others()));
}

}  // namespace weir
