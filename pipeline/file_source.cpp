#include "pipeline/file_source.hpp"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include <weir/error.hpp>

#include "pipeline/file_bytes.hpp"
#include "pipeline/file_reader.hpp"
#include "pipeline/sample_reading.hpp"

namespace weir {
namespace {

using detail::LookAhead;
using detail::Slot;
using detail::SlotHeader;
using detail::SlotType;

class FileSource final : public detail::Source {
 public:
  FileSource(FileIndex index, std::shared_ptr<detail::Storage> storage)
      : index_(std::make_shared<const FileIndex>(std::move(index))), storage_(std::move(storage)) {}

  [[nodiscard]] const SlotType& type() const override { return detail::slot_type<Path>(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return index_->size(); }
  void make(std::uint64_t sample_id, SlotHeader* out) const override {
    static_cast<Slot<Path>*>(out)->emplace(index_, sample_id, -1);
  }
  [[nodiscard]] std::int32_t label(std::uint64_t sample_id) const override {
    return index_->label(sample_id);
  }
  [[nodiscard]] std::string describe(std::uint64_t sample_id) const override {
    return index_->path(sample_id);
  }
  [[nodiscard]] const std::vector<std::string>& classes() const override {
    return index_->classes();
  }
  [[nodiscard]] std::shared_ptr<LookAhead> look_ahead(
      const detail::LookAheadSettings& settings) const override {
    return std::make_shared<detail::FileReader>(index_, storage_, settings);
  }
  [[nodiscard]] std::string remark() const override {
    std::string text;
    if (index_->hidden_skipped() > 0)
      text = std::to_string(index_->hidden_skipped()) + " hidden entries of " + index_->root() +
             " skipped";
    if (index_->quarantine().empty()) return text;
    if (!text.empty()) text += "; ";
    return text + index_->quarantine() +
           (index_->left_out() > 0
                ? " leaves out " + std::to_string(index_->left_out()) + " bad files"
                : std::string(" leaves out no file"));
  }

 private:
  // Shared with every Path, which may outlive the pipeline.
  const std::shared_ptr<const FileIndex> index_;
  const std::shared_ptr<detail::Storage> storage_;
};

File read_file(Path path) {
  Buffer bytes = path.read();
  return File(std::move(path), std::move(bytes));
}

}  // namespace

Stream<Path> files(const std::string& root, const FilesOptions& options) {
  return detail::stream_of_files("files", FileIndex::list(root, options), detail::kernel_storage());
}

Stream<Path> list_file(const std::string& path, const std::string& classes_file) {
  return detail::stream_of_files("list", FileIndex::read_list(path, classes_file),
                                 detail::kernel_storage());
}

std::string Path::string() const { return index_ ? index_->path(entry_) : std::string(); }

std::string Path::relative() const {
  return index_ ? std::string(index_->relative(entry_)) : std::string();
}

Path& Path::operator=(Path&& other) noexcept {
  if (this != &other) {
    if (held_ != kNothing) let_go();
    // In this order: the index that goes may keep the reader of what is held alive.
    index_ = std::move(other.index_);
    entry_ = other.entry_;
    reader_ = std::exchange(other.reader_, nullptr);
    held_ = std::exchange(other.held_, kNothing);
  }
  return *this;
}

void Path::let_go() noexcept {
  const int held = std::exchange(held_, kNothing);
  if (reader_ != nullptr)
    reader_->forget(held);
  else
    ::close(held);
}

Buffer Path::read() {
  const int held = std::exchange(held_, kNothing);
  if (reader_ != nullptr) return reader_->read(*this, held);
  return detail::read_once(*this, held);
}

namespace detail {

Stream<Path> stream_of_files(const std::string& name, FileIndex index,
                             std::shared_ptr<Storage> storage) {
  return Stream<Path>(
      source_step(name, std::make_shared<FileSource>(std::move(index), std::move(storage)), name));
}

Buffer read_bytes(Path& path) { return path.read(); }

Tensor read_column(Path& path) {
  Buffer bytes = read_bytes(path);
  const Shape shape{static_cast<std::int64_t>(bytes.size())};
  return Tensor(shape, DType::u8, std::move(bytes), 0);
}

Sample read_sample(Path path, Context& context) {
  Sample sample;
  sample.set("image", read_column(path));
  if (context.label() >= 0) {
    Tensor label(Shape{}, DType::i64);
    *label.data<std::int64_t>() = context.label();
    sample.set("label", std::move(label));
  }
  return sample;
}

std::shared_ptr<Step> read_step(std::shared_ptr<const Step> previous, StageOptions options,
                                bool as_samples) {
  std::shared_ptr<Step> step =
      next_step(std::move(previous), Step::Kind::map, "read", std::move(options));
  step->built_in = true;
  if (as_samples) {
    step->output = &slot_type<Sample>();
    step->make_operator = [] {
      return std::make_unique<MapOperator<Path, Sample, decltype(&read_sample)>>(&read_sample,
                                                                                 nullptr);
    };
  } else {
    step->output = &slot_type<File>();
    step->make_operator = [] {
      return std::make_unique<MapOperator<Path, File, decltype(&read_file)>>(&read_file, nullptr);
    };
  }
  return step;
}

}  // namespace detail
}  // namespace weir
