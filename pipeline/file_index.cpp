#include <weir/file_index.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <weir/error.hpp>

#include "pipeline/quarantine_list.hpp"

namespace weir {
namespace {

std::string system_reason(int error) { return std::generic_category().message(error); }

/// One name of a folder. Folders sort as if a slash followed, so that going into them in order
/// gives the order of the whole paths' bytes.
struct Entry {
  std::uint64_t key = 0;  ///< the first bytes behind what all names share, for quick comparison
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  bool folder = false;
};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool name_matches(std::string_view pattern, std::string_view name) {
  return ::fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
}

/// Folder by folder; `**` stands for any number of folders, none included, and at the end for all
/// that is below.
bool path_matches(std::string_view pattern, std::string_view path) {
  const std::size_t pattern_end = pattern.find('/');
  const std::string_view first = pattern.substr(0, pattern_end);
  const bool last = pattern_end == std::string_view::npos;
  if (first == "**") {
    if (last) return true;
    for (std::string_view below = path;;) {
      if (path_matches(pattern.substr(pattern_end + 1), below)) return true;
      const std::size_t slash = below.find('/');
      if (slash == std::string_view::npos) return false;
      below.remove_prefix(slash + 1);
    }
  }
  const std::size_t slash = path.find('/');
  if (last != (slash == std::string_view::npos)) return false;
  if (!name_matches(first, path.substr(0, slash))) return false;
  return last || path_matches(pattern.substr(pattern_end + 1), path.substr(slash + 1));
}

class Lister {
 public:
  Lister(const std::string& root, const FilesOptions& options) : root_(root), options_(options) {
    pattern_has_slash_ = options.pattern.find('/') != std::string::npos;
  }

  void run() {
    struct stat status {};
    if (::stat(root_.c_str(), &status) != 0)
      throw Error(ErrorKind::usage, root_,
                  "no such folder (" + system_reason(errno) + "); name one with files in it");
    if (!S_ISDIR(status.st_mode))
      throw Error(ErrorKind::usage, root_,
                  "not a folder; for a list of files use the source `list`");
    list("", status);
    if (ends.empty()) nothing_found();
  }

  std::string names;
  std::vector<std::uint64_t> ends;
  std::uint64_t hidden = 0;

 private:
  void nothing_found() const {
    std::string text = "no file ";
    text += options_.pattern.empty() ? "at all" : "matches '" + options_.pattern + "'";
    text += "; seen: " + std::to_string(seen_files_) + " files, " + std::to_string(seen_folders_) +
            " folders, " + std::to_string(hidden) + " hidden entries skipped";
    if (!first_seen_.empty()) text += "; the first file is '" + first_seen_ + "'";
    if (!options_.recursive && seen_folders_ > 0) text += "; recursive is off";
    throw Error(ErrorKind::usage, root_, text);
  }

  void list(const std::string& below, const struct stat& status) {
    // A folder that is its own ancestor, by way of a link, is not entered again.
    if (!entered_.insert({status.st_dev, status.st_ino}).second) return;
    const std::string path = below.empty() ? root_ : root_ + "/" + below;
    std::string block;
    std::vector<Entry> entries;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) throw Error(ErrorKind::data, path, "open: " + system_reason(errno));
    std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(descriptor));
    if (!folder) {
      const int error = errno;
      ::close(descriptor);
      throw Error(ErrorKind::data, path, "fdopendir: " + system_reason(error));
    }
    while (true) {
      errno = 0;
      const dirent* found = ::readdir(folder.get());
      if (found == nullptr) {
        if (errno != 0) throw Error(ErrorKind::data, path, "readdir: " + system_reason(errno));
        break;
      }
      const char* name = found->d_name;
      if (name[0] == '.') {
        if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) ++hidden;
        continue;
      }
      Entry entry;
      entry.offset = static_cast<std::uint32_t>(block.size());
      entry.length = static_cast<std::uint32_t>(std::strlen(name));
      entry.folder = is_folder(descriptor, *found);
      block.append(name, entry.length);
      entries.push_back(entry);
    }
    folder.reset();
    sort(block, entries);
    for (const Entry& entry : entries) {
      const std::string_view name(block.data() + entry.offset, entry.length);
      if (!entry.folder) {
        add(below, name);
        continue;
      }
      ++seen_folders_;
      if (!options_.recursive) continue;
      std::string inner = below.empty() ? std::string(name) : below + "/" + std::string(name);
      struct stat inner_status {};
      if (::stat((root_ + "/" + inner).c_str(), &inner_status) != 0) continue;  // Gone meanwhile.
      list(inner, inner_status);
    }
    entered_.erase({status.st_dev, status.st_ino});
  }

  static bool is_folder(int parent, const dirent& found) {
    if (found.d_type == DT_DIR) return true;
    if (found.d_type != DT_LNK && found.d_type != DT_UNKNOWN) return false;
    struct stat status {};
    return ::fstatat(parent, found.d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
  }

  static void sort(const std::string& block, std::vector<Entry>& entries) {
    if (entries.size() < 2) return;
    const auto name = [&block](const Entry& entry) {
      return std::string_view(block.data() + entry.offset, entry.length);
    };
    std::size_t shared = entries.front().length;
    for (const Entry& entry : entries) {
      const std::string_view first = name(entries.front());
      const std::string_view own = name(entry);
      shared = std::min(shared, own.size());
      shared = static_cast<std::size_t>(
          std::mismatch(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(shared),
                        first.begin())
              .first -
          own.begin());
    }
    for (Entry& entry : entries) {
      const std::string_view own = name(entry);
      for (std::size_t i = 0; i < 8; ++i) {
        unsigned char byte = 0;
        if (shared + i < own.size())
          byte = static_cast<unsigned char>(own[shared + i]);
        else if (shared + i == own.size() && entry.folder)
          byte = '/';
        entry.key = (entry.key << 8U) | byte;
      }
    }
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.key != b.key) return a.key < b.key;
      const int order = name(a).compare(name(b));
      if (order == 0) return a.folder < b.folder;
      // Where one name begins the other, the slash of a folder decides.
      const std::string_view shorter = a.length < b.length ? name(a) : name(b);
      const std::string_view longer = a.length < b.length ? name(b) : name(a);
      const bool shorter_is_folder = a.length < b.length ? a.folder : b.folder;
      if (shorter_is_folder && longer.size() > shorter.size() &&
          longer.substr(0, shorter.size()) == shorter) {
        const bool shorter_first = static_cast<unsigned char>(longer[shorter.size()]) > '/';
        return (a.length < b.length) == shorter_first;
      }
      return order < 0;
    });
  }

  void add(const std::string& below, std::string_view name) {
    ++seen_files_;
    const std::size_t start = names.size();
    if (!below.empty()) names.append(below).push_back('/');
    names.append(name);
    if (first_seen_.empty()) first_seen_ = names.substr(start);
    if (!options_.pattern.empty()) {
      const bool fits = pattern_has_slash_
                            ? path_matches(options_.pattern, std::string_view(names).substr(start))
                            : name_matches(options_.pattern, name);
      if (!fits) {
        names.resize(start);
        return;
      }
    }
    ends.push_back(names.size());
  }

  const std::string& root_;
  const FilesOptions& options_;
  bool pattern_has_slash_ = false;
  std::set<std::pair<dev_t, ino_t>> entered_;  ///< the folders that we are inside of
  std::uint64_t seen_files_ = 0;
  std::uint64_t seen_folders_ = 0;
  std::string first_seen_;
};

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::usage, path, "open: " + system_reason(errno));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Class names by number: those of the file, which is written when it does not exist yet.
std::vector<std::string> settle_classes(const std::set<std::string>& found,
                                        const std::string& classes_file) {
  std::vector<std::string> names(found.begin(), found.end());
  if (classes_file.empty()) return names;
  if (::access(classes_file.c_str(), F_OK) == 0) {
    names = read_lines(classes_file);
    for (const std::string& name : found)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error(ErrorKind::usage, classes_file,
                    "has no class '" + name +
                        "', which the data has; add it at the end, or remove "
                        "the file to have it written anew");
    return names;
  }
  std::ofstream file(classes_file);
  for (const std::string& name : names) file << name << '\n';
  file.close();
  if (!file) throw Error(ErrorKind::cannot, classes_file, "write: " + system_reason(errno));
  return names;
}

}  // namespace

FileIndex FileIndex::list(const std::string& root, const FilesOptions& options) {
  std::string trimmed = root;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  Lister lister(trimmed, options);
  lister.run();
  FileIndex index;
  index.root_ = trimmed;
  index.names_ = std::move(lister.names);
  index.names_.shrink_to_fit();
  index.ends_ = std::move(lister.ends);
  index.ends_.shrink_to_fit();
  index.hidden_skipped_ = lister.hidden;
  if (options.labels == Labels::none) {
    index.leave_out(options.quarantine);
    return index;
  }

  // Neighbours share their folder, so a class is looked up once a folder and not once a file.
  const auto folder_of = [&](std::uint64_t entry) -> std::string_view {
    const std::string_view path = index.relative(entry);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) {
      const std::string_view whole(index.root_);
      return whole.substr(whole.rfind('/') + 1);  // npos + 1 is 0.
    }
    const std::string_view folder = path.substr(0, slash);
    return folder.substr(folder.rfind('/') + 1);
  };
  std::set<std::string> found;
  std::string_view last;
  for (std::uint64_t entry = 0; entry < index.size(); ++entry) {
    const std::string_view folder = folder_of(entry);
    if (entry == 0 || folder != last) found.emplace(folder);
    last = folder;
  }
  index.classes_ = settle_classes(found, options.classes_file);
  std::map<std::string, std::int32_t, std::less<>> numbers;
  for (std::size_t i = 0; i < index.classes_.size(); ++i)
    numbers.emplace(index.classes_[i], static_cast<std::int32_t>(i));
  index.labels_.reserve(index.size());
  std::int32_t number = -1;
  for (std::uint64_t entry = 0; entry < index.size(); ++entry) {
    const std::string_view folder = folder_of(entry);
    if (entry == 0 || folder != last) number = numbers.find(folder)->second;
    last = folder;
    index.labels_.push_back(number);
  }
  index.leave_out(options.quarantine);
  return index;
}

void FileIndex::leave_out(const std::string& quarantine) {
  if (quarantine.empty()) return;
  quarantine_ = quarantine;
  const std::vector<std::string> listed = detail::read_quarantine_list(quarantine);
  const std::set<std::string_view> bad(listed.begin(), listed.end());
  const std::string root = detail::quarantine_key(root_);
  // Those that stay first, then the others, each in their order.
  std::vector<std::uint64_t> order;
  std::vector<std::uint64_t> others;
  for (std::uint64_t entry = 0; entry < ends_.size(); ++entry) {
    std::string key = root;
    if (!key.ends_with('/')) key.push_back('/');
    key.append(relative(entry));
    (bad.contains(key) ? others : order).push_back(entry);
  }
  if (others.empty()) return;
  left_out_ = others.size();
  if (order.empty())
    throw Error(ErrorKind::usage, root_, "every file is left out by the list " + quarantine);
  order.insert(order.end(), others.begin(), others.end());
  std::string names;
  names.reserve(names_.size());
  std::vector<std::uint64_t> ends;
  ends.reserve(ends_.size());
  std::vector<std::int32_t> labels;
  labels.reserve(labels_.size());
  for (const std::uint64_t entry : order) {
    names.append(relative(entry));
    ends.push_back(names.size());
    if (!labels_.empty()) labels.push_back(labels_[entry]);
  }
  names_ = std::move(names);
  ends_ = std::move(ends);
  labels_ = std::move(labels);
}

FileIndex FileIndex::read_list(const std::string& list_file, const std::string& classes_file) {
  const std::vector<std::string> lines = read_lines(list_file);
  FileIndex index;
  const std::size_t slash = list_file.rfind('/');
  index.root_ =
      slash == std::string::npos ? "." : list_file.substr(0, std::max<std::size_t>(slash, 1));
  std::vector<std::string> labels;
  std::vector<std::size_t> line_of;  ///< each label's
  bool labelled = false;
  bool numbers = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty() || line.front() == '#') continue;
    const std::string place = list_file + ":" + std::to_string(i + 1);
    const std::size_t comma = line.rfind(',');
    if (comma == 0)
      throw Error(ErrorKind::usage, place, "no path before the comma; write path,label");
    const bool has_label = comma != std::string::npos;
    if (index.ends_.empty()) labelled = has_label;
    if (has_label != labelled)
      throw Error(ErrorKind::usage, place,
                  labelled ? "no label, the lines before have one; write path,label"
                           : "a label, the lines before have none; write path,label on every line");
    index.names_ += line.substr(0, comma);
    index.ends_.push_back(index.names_.size());
    if (!labelled) continue;
    labels.push_back(line.substr(comma + 1));
    line_of.push_back(i + 1);
    std::int32_t number = 0;
    const char* end = labels.back().data() + labels.back().size();
    const auto [stop, error] = std::from_chars(labels.back().data(), end, number);
    numbers = numbers && error == std::errc() && stop == end && number >= 0;
  }
  if (index.ends_.empty())
    throw Error(ErrorKind::usage, list_file, "names no file; write one path[,label] a line");
  if (!labelled) return index;
  if (!numbers) {
    index.classes_ =
        settle_classes(std::set<std::string>(labels.begin(), labels.end()), classes_file);
  } else if (!classes_file.empty() && ::access(classes_file.c_str(), F_OK) == 0) {
    index.classes_ = read_lines(classes_file);
  }
  std::map<std::string, std::int32_t> by_name;
  for (std::size_t i = 0; i < index.classes_.size(); ++i)
    by_name.emplace(index.classes_[i], static_cast<std::int32_t>(i));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string& label = labels[i];
    std::int32_t number = 0;
    if (numbers)
      std::from_chars(label.data(), label.data() + label.size(), number);
    else
      number = by_name.at(label);
    if (numbers && !index.classes_.empty() &&
        static_cast<std::size_t>(number) >= index.classes_.size())
      throw Error(ErrorKind::usage, list_file + ":" + std::to_string(line_of[i]),
                  "label " + label + ", but " + classes_file + " has " +
                      std::to_string(index.classes_.size()) + " classes, counted from 0");
    index.labels_.push_back(number);
  }
  return index;
}

std::string_view FileIndex::relative(std::uint64_t entry) const {
  const std::uint64_t begin = entry == 0 ? 0 : ends_[entry - 1];
  return std::string_view(names_).substr(begin, ends_[entry] - begin);
}

std::string FileIndex::path(std::uint64_t entry) const {
  const std::string_view name = relative(entry);
  if (!name.empty() && name.front() == '/') return std::string(name);
  std::string path;
  path.reserve(root_.size() + 1 + name.size());
  path.append(root_);
  if (path.back() != '/') path.push_back('/');
  path.append(name);
  return path;
}

std::uint64_t FileIndex::overhead_bytes() const {
  return ends_.capacity() * sizeof(std::uint64_t) + labels_.capacity() * sizeof(std::int32_t);
}

}  // namespace weir
