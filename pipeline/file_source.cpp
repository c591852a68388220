#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <weir/error.hpp>
#include <weir/sources.hpp>

#include "pipeline/sample_reading.hpp"

namespace weir {
namespace {

using detail::Slot;
using detail::SlotHeader;
using detail::SlotType;

/// Files asked for ahead of the first read: 16 in flight reach a disk's rate with one or two
/// threads.
constexpr int kLookAhead = 16;

std::string reason_of(const char* call, int error) {
  return std::string(call) + ": " + std::generic_category().message(error);
}

int open_for_reading(const std::string& path) {
  // O_NONBLOCK: a FIFO that took the file's place must not hold a worker for ever.
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

class FileSource final : public detail::Source {
 public:
  explicit FileSource(FileIndex index)
      : index_(std::make_shared<const FileIndex>(std::move(index))) {}

  [[nodiscard]] const SlotType& type() const override { return detail::slot_type<Path>(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return index_->size(); }
  void make(std::uint64_t sample_id, int descriptor, SlotHeader* out) const override {
    static_cast<Slot<Path>*>(out)->emplace(index_, sample_id, descriptor);
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
  [[nodiscard]] int look_ahead() const override { return kLookAhead; }
  [[nodiscard]] int hint(std::uint64_t sample_id) const override {
    // As FileIndex::path() has it, but in memory of the worker's: no allocation a file.
    thread_local std::string path;
    const std::string_view name = index_->relative(sample_id);
    path.clear();
    if (!name.starts_with('/')) {
      path = index_->root();
      if (!path.ends_with('/')) path.push_back('/');
    }
    path.append(name);
    const int descriptor = open_for_reading(path);
    // A failure is not lost: make() hands over no descriptor, and the read opens and reports it.
    if (descriptor >= 0) ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_WILLNEED);
    return descriptor;
  }
  void forget(int descriptor) const override { ::close(descriptor); }
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
  std::shared_ptr<const FileIndex> index_;
};

Stream<Path> stream_of(const std::string& name, FileIndex index, std::string identity) {
  return Stream<Path>(detail::source_step(name, std::make_shared<FileSource>(std::move(index)),
                                          std::move(identity)));
}

class OpenFile {
 public:
  explicit OpenFile(Path& path) : descriptor_(path.take_descriptor()) {
    if (descriptor_ < 0) descriptor_ = open_for_reading(path.string());
    if (descriptor_ >= 0) return;
    const int error = errno;
    // These say nothing about the file, so that skipping it would lose good data.
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
      throw Error(ErrorKind::cannot, path.string(), reason_of("open", error));
    throw BadSample(reason_of("open", error));
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor_); }

  [[nodiscard]] Buffer read() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw BadSample(reason_of("fstat", errno));
    if (!S_ISREG(status.st_mode)) throw BadSample("not a regular file");
    // One byte more than the file seems to have tells its end from its growth.
    Buffer buffer(static_cast<std::size_t>(status.st_size) + 1);
    std::size_t filled = 0;
    while (true) {
      if (filled == buffer.capacity()) {
        Buffer larger(buffer.capacity() * 2);
        std::memcpy(larger.data(), buffer.data(), filled);
        buffer = std::move(larger);
      }
      const ssize_t count = ::pread(descriptor_, buffer.data() + filled, buffer.capacity() - filled,
                                    static_cast<off_t>(filled));
      if (count < 0) {
        if (errno == EINTR) continue;
        throw BadSample(reason_of("pread", errno));
      }
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
      if (filled == static_cast<std::size_t>(status.st_size)) break;
    }
    buffer.resize_within(filled);
    return buffer;
  }

 private:
  int descriptor_;
};

File read_file(Path path) {
  Buffer bytes = detail::read_bytes(path);
  return File(std::move(path), std::move(bytes));
}

}  // namespace

Stream<Path> files(const std::string& root, const FilesOptions& options) {
  return stream_of("files", FileIndex::list(root, options), "files");
}

Stream<Path> list_file(const std::string& path, const std::string& classes_file) {
  return stream_of("list", FileIndex::read_list(path, classes_file), "list");
}

std::string Path::string() const { return index_ ? index_->path(entry_) : std::string(); }

std::string Path::relative() const {
  return index_ ? std::string(index_->relative(entry_)) : std::string();
}

Path& Path::operator=(Path&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    index_ = std::move(other.index_);
    entry_ = other.entry_;
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

Path::~Path() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

namespace detail {

Buffer read_bytes(Path& path) { return OpenFile(path).read(); }

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
