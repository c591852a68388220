#include <weir/mask_files.hpp>

#include <string_view>
#include <unordered_map>
#include <utility>

#include <weir/error.hpp>
#include <weir/file_index.hpp>

#include "pipeline/sample_reading.hpp"

namespace weir {
namespace {

/// "train/a" of "train/a.jpg"; a name that only begins with a dot has no extension.
std::string_view without_extension(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t first = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot <= first ? name : name.substr(0, dot);
}

}  // namespace

struct MaskedRead::Files {
  std::shared_ptr<const FileIndex> index;
  std::unordered_map<std::string_view, std::uint64_t> entries;  ///< names in the index's memory
};

MaskedRead::MaskedRead(const std::string& root) {
  auto files = std::make_shared<Files>();
  files->index = std::make_shared<const FileIndex>(FileIndex::list(root, {}));
  const FileIndex& index = *files->index;
  files->entries.reserve(index.size());
  for (std::uint64_t entry = 0; entry < index.size(); ++entry) {
    const std::string_view name = index.relative(entry);
    const auto [found, fresh] = files->entries.emplace(without_extension(name), entry);
    if (!fresh)
      throw Error(ErrorKind::usage, root,
                  "'" + std::string(index.relative(found->second)) + "' and '" + std::string(name) +
                      "' are masks of one image; keep one of them");
  }
  files_ = std::move(files);
}

Sample MaskedRead::operator()(Path path, Context& context) const {
  const std::string name = path.relative();
  const auto found = files_->entries.find(without_extension(name));
  if (found == files_->entries.end())
    throw BadSample("no mask: nothing below " + files_->index->root() + " is called '" +
                    std::string(without_extension(name)) + "' with any extension");
  Path mask(files_->index, found->second, -1);
  Sample sample = detail::read_sample(std::move(path), context);
  sample.set("mask", detail::read_column(mask));
  return sample;
}

}  // namespace weir
