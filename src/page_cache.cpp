#include "src/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace weir::program {
namespace {

/// Whether the page cache has any of the file; nullopt where the kernel does not tell: it does for
/// files that are the caller's own or that he may write to.
std::optional<bool> is_cached(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_size == 0) return false;
  const bool own = ::geteuid() == 0 || status.st_uid == ::geteuid();
  if (!own && ::faccessat(descriptor, "", W_OK, AT_EMPTY_PATH) != 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  const bool told = ::mincore(memory, size, pages.data()) == 0;
  ::munmap(memory, size);
  if (!told) return std::nullopt;
  for (const unsigned char one : pages)
    if ((one & 1U) != 0) return true;
  return false;
}

/// True, false, or nullopt as is_cached() has it afterwards.
std::optional<bool> drop(int descriptor) {
  static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
  std::optional<bool> cached = is_cached(descriptor);
  if (cached == false) return cached;
  // Pages that wait to be written cannot be dropped.
  static_cast<void>(::fdatasync(descriptor));
  static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
  return is_cached(descriptor);
}

}  // namespace

DroppedPages drop_pages(const Pipeline& pipeline) {
  DroppedPages dropped;
  if (pipeline.operators.empty()) return dropped;
  const std::string& source_name = pipeline.operators.front().op;
  if (source_name != "files" && source_name != "list") return dropped;
  const auto last = std::visit([](const auto& stream) { return stream.step(); }, pipeline.stream);
  const detail::Step* step = last.get();
  while (step->previous != nullptr) step = step->previous.get();
  dropped.files = step->source->size().value_or(0);
  for (std::uint64_t id = 0; id < dropped.files; ++id) {
    const std::string path = step->source->describe(id);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0) {
      ++dropped.unopened;
      continue;
    }
    const std::optional<bool> cached = drop(descriptor);
    if (!cached) ++dropped.untold;
    if (cached == true) ++dropped.kept;
    ::close(descriptor);
  }
  return dropped;
}

std::string to_text(const DroppedPages& dropped) {
  std::string text = fmt::format("asked the kernel to drop the pages of {} files", dropped.files);
  if (dropped.files == 0) return text + ": this source reads none";
  const std::uint64_t cold = dropped.files - dropped.unopened - dropped.kept - dropped.untold;
  if (cold == dropped.files) return text + "; all are out of the page cache";
  text += fmt::format("; {} are out of the page cache", cold);
  if (dropped.kept > 0)
    text += fmt::format(
        ", {} still have pages there (mapped or locked by others, or without a disk behind them)",
        dropped.kept);
  if (dropped.untold > 0)
    text += fmt::format(", of {} the kernel does not say (files of others)", dropped.untold);
  if (dropped.unopened > 0) text += fmt::format(", {} could not be opened", dropped.unopened);
  return text;
}

}  // namespace weir::program
