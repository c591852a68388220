#include "src/page_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <variant>

namespace weir::program {

std::uint64_t drop_pages(const Pipeline& pipeline) {
  if (pipeline.operators.empty()) return 0;
  const std::string& source_name = pipeline.operators.front().op;
  if (source_name != "files" && source_name != "list") return 0;
  const auto last = std::visit([](const auto& stream) { return stream.step(); }, pipeline.stream);
  const detail::Step* step = last.get();
  while (step->previous != nullptr) step = step->previous.get();
  const std::uint64_t files = step->source->size().value_or(0);
  for (std::uint64_t id = 0; id < files; ++id) {
    const std::string path = step->source->describe(id);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) continue;  // reading it will say why
    static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
    ::close(descriptor);
  }
  return files;
}

}  // namespace weir::program
