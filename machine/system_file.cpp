#include "machine/system_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace weir::detail {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";
/// Far above any file that is read here; a bound, so that a device in their place does no harm.
constexpr std::size_t kMostBytes = std::size_t{8} << 20;

}  // namespace

std::string under_root(const std::string& root, std::string_view path) {
  std::string joined = root;
  while (!joined.empty() && joined.back() == '/') joined.pop_back();
  joined += path;
  return joined;
}

std::optional<std::string> read_system_file(const std::string& root, std::string_view path) {
  // O_NONBLOCK: a FIFO in the place of a file must not hold up the start.
  const int descriptor =
      ::open(under_root(root, path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return std::nullopt;
  std::string text;
  char chunk[4096];
  bool good = true;
  while (text.size() < kMostBytes) {
    const ssize_t count = ::read(descriptor, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) good = false;
    if (count <= 0) break;
    text.append(chunk, static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  if (!good) return std::nullopt;
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (!trimmed(line).empty()) lines.push_back(line);
  }
  return lines;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  text = trimmed(text);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

std::optional<std::string_view> find_field(std::string_view text, std::string_view key) {
  // Without a list of the lines: a thread that reads files looks at its own counters all the time.
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || line.size() == key.size()) continue;
    std::string_view rest = line.substr(key.size());
    if (rest.front() != ':' && rest.front() != ' ' && rest.front() != '\t') continue;
    // "model name\t: text" has its colon behind white space.
    rest = trimmed(rest);
    if (rest.starts_with(':')) rest = trimmed(rest.substr(1));
    return rest;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> find_number(std::string_view text, std::string_view key) {
  const std::optional<std::string_view> field = find_field(text, key);
  if (!field) return std::nullopt;
  return parse_number(field->substr(0, field->find_first_of(kWhiteSpace)));
}

}  // namespace weir::detail
