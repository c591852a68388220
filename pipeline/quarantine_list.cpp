#include "pipeline/quarantine_list.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

/// Undoes one_line().
std::string original(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
      continue;
    }
    ++i;
    text += line[i] == 'n' ? '\n' : line[i] == 't' ? '\t' : line[i];
  }
  return text;
}

}  // namespace

std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else if (c == '\\')
      line += "\\\\";
    else
      line += c;
  }
  return line;
}

std::string quarantine_line(const std::string& path, const std::string& stage,
                            const std::string& reason) {
  return one_line(path) + '\t' + stage + '\t' + one_line(reason) + '\n';
}

std::string quarantine_key(const std::string& path) {
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::absolute(path, none);
  return (none ? std::filesystem::path(path) : whole).lexically_normal().string();
}

std::vector<std::string> read_quarantine_list(const std::string& list) {
  std::error_code unknown;
  if (!std::filesystem::exists(list, unknown) && !unknown) return {};
  errno = 0;
  std::ifstream file(list, std::ios::binary);
  if (!file) throw Error(ErrorKind::usage, list, "open: " + std::generic_category().message(errno));
  std::vector<std::string> paths;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string::npos)
      throw Error(ErrorKind::usage, list + ":" + std::to_string(number),
                  "no line of a quarantine list, which is path, stage and reason with tabs "
                  "between; let weir scan write it");
    paths.push_back(quarantine_key(original(line.substr(0, tab))));
  }
  return paths;
}

}  // namespace weir::detail
