#include "src/scan_entry.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <weir/error.hpp>

namespace weir::program {
namespace {

using detail::ImageFormat;

/// Names that promise a format; any other ending promises nothing.
constexpr std::array<std::pair<std::string_view, ImageFormat>, 16> kEndings{
    {{"jpg", ImageFormat::jpeg},
     {"jpeg", ImageFormat::jpeg},
     {"jpe", ImageFormat::jpeg},
     {"jfif", ImageFormat::jpeg},
     {"png", ImageFormat::png},
     {"webp", ImageFormat::webp},
     {"bmp", ImageFormat::bmp},
     {"dib", ImageFormat::bmp},
     {"tif", ImageFormat::tiff},
     {"tiff", ImageFormat::tiff},
     {"gif", ImageFormat::gif},
     {"pnm", ImageFormat::pnm},
     {"ppm", ImageFormat::pnm},
     {"pgm", ImageFormat::pnm},
     {"pbm", ImageFormat::pnm},
     {"pam", ImageFormat::pnm}}};

/// The ending of the name in small letters; empty: none.
std::string ending_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0.
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return "";
  std::string ending = name.substr(dot + 1);
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending;
}

void note_wrong_ending(const std::string& path, ScanEntry* entry) {
  const std::string ending = ending_of(path);
  for (const auto& [known, format] : kEndings)
    if (known == ending && format != entry->format)
      entry->notes.push_back(std::string(detail::name_of(entry->format)) + " content named ." +
                             ending);
}

Hash128 content_of(std::span<const std::byte> bytes) {
  DeliveryDigest digest;
  digest.begin_row(0, 0, 0);
  digest.add(bytes.data(), bytes.size());
  digest.end_row();
  digest.end_delivery();
  return digest.chain();
}

void look(std::span<const std::byte> bytes, const ScanRules& rules, const std::string& path,
          ScanEntry* entry) {
  const detail::ImageFacts facts = detail::look_at_image(bytes, rules.decode);
  entry->format = facts.format;
  entry->width = facts.width;
  entry->height = facts.height;
  entry->channels = facts.channels;
  note_wrong_ending(path, entry);
  if (facts.bits == 16) {
    if (rules.decode.depth == Depth::refuse)
      throw BadSample("16 bits a channel: say `depth: u8` or `depth: keep`");
    entry->notes.emplace_back("16 bits a channel");
  }
  if (facts.animated) entry->notes.emplace_back("an animation, of which the first picture counts");
  if (rules.quick) return;
  detail::DecodedImage image = detail::decode_image(
      bytes, rules.decode, [](const Shape& shape, DType dtype) { return Tensor(shape, dtype); });
  for (std::string& note : image.notes)
    if (std::find(entry->notes.begin(), entry->notes.end(), note) == entry->notes.end())
      entry->notes.push_back(std::move(note));
}

}  // namespace

FoundFile find_file(const std::shared_ptr<const FileIndex>& index, std::uint64_t file) {
  FoundFile found{Path(index, file, -1), ""};
  const std::string path = found.path.string();
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int error = errno;
    struct stat link {};
    const bool is_link = ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
    if (error == ELOOP)
      found.reason = "looping link";
    else if (is_link && error == ENOENT)
      found.reason = "dangling link";
    else
      found.reason = "stat: " + std::generic_category().message(error);
    return found;
  }
  if (!S_ISREG(status.st_mode)) {
    found.reason = "not a regular file";
    return found;
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  // A failure is not lost: reading opens once more, and reports it.
  if (descriptor >= 0) {
    static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_WILLNEED));
    found.path = Path(index, file, descriptor);
  }
  return found;
}

ScanEntry scan_file(FoundFile found, const ScanRules& rules) {
  ScanEntry entry;
  entry.file = found.path.entry();
  entry.reason = std::move(found.reason);
  if (entry.reason.empty()) {
    try {
      const Buffer buffer = detail::read_bytes(found.path);
      const std::span<const std::byte> bytes(buffer.data(), buffer.size());
      entry.bytes = bytes.size();
      if (rules.content) entry.content = content_of(bytes);
      entry.format = detail::sniff(bytes);
      look(bytes, rules, found.path.relative(), &entry);
    } catch (const BadSample& bad) {
      entry.reason = bad.what();
    }
  }
  if (!entry.reason.empty())
    entry.status = ScanStatus::bad;
  else if (!entry.notes.empty())
    entry.status = ScanStatus::noted;
  return entry;
}

std::string kind_of_reason(const std::string& reason) {
  for (const char* kind : {"damaged", "not an image", "not supported"})
    if (reason.starts_with(kind)) return kind;
  if (reason.starts_with("too many ")) return "above a limit";
  if (reason.starts_with("16 bits")) return "needs a setting";
  return "cannot be read";
}

}  // namespace weir::program
