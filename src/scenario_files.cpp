#include "src/scenario_files.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <weir/error.hpp>

#include "src/suggestion.hpp"

namespace weir::program {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> places(const std::optional<std::string>& folder) {
  if (folder) return {*folder};
  std::vector<std::string> all{"configs/scenarios"};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return all;
  const fs::path beside = program.parent_path();
  all.push_back((beside / "../share/weir/scenarios").lexically_normal().string());
  // A build folder of the presets: build/NAME/weir.
  all.push_back((beside / "../../configs/scenarios").lexically_normal().string());
  return all;
}

/// The suite's files by name.
std::vector<fs::path> suite(const std::optional<std::string>& folder) {
  const std::vector<std::string> searched = places(folder);
  std::vector<fs::path> files;
  for (const std::string& place : searched) {
    std::error_code error;
    for (fs::directory_iterator entry(place, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().extension() == ".yaml") files.push_back(entry->path());
    if (files.empty()) continue;
    std::sort(files.begin(), files.end());
    return files;
  }
  throw Error(ErrorKind::usage, folder ? "--scenarios" : "",
              fmt::format("no scenario files found in {}; name a file, or the folder with "
                          "--scenarios DIR",
                          fmt::join(searched, ", ")));
}

/// "01_skewed_costs.yaml" as "skewed_costs".
std::string name_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::size_t digits = stem.find_first_not_of("0123456789");
  return digits != std::string::npos && digits > 0 && stem[digits] == '_' ? stem.substr(digits + 1)
                                                                          : stem;
}

/// A word rather than a path: nothing of that name lies here.
bool is_word(const std::string& argument) {
  std::error_code ignored;
  return argument.find('/') == std::string::npos && !argument.ends_with(".yaml") &&
         !argument.ends_with(".yml") && !fs::exists(argument, ignored);
}

std::string named(const std::string& word, const std::optional<std::string>& folder) {
  std::vector<std::string> names{"all"};
  for (const fs::path& file : suite(folder)) {
    if (name_of(file) == word || file.stem() == word) return file.string();
    names.push_back(name_of(file));
  }
  throw Error(ErrorKind::usage, "",
              fmt::format("'{}' is no file and no scenario{}", word,
                          detail::suggestion(word, names, "Known")));
}

}  // namespace

std::vector<std::string> scenario_files(const std::vector<std::string>& arguments,
                                        const std::optional<std::string>& folder) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    if (argument == "all") {
      for (const fs::path& file : suite(folder)) files.push_back(file.string());
    } else {
      files.push_back(is_word(argument) ? named(argument, folder) : argument);
    }
  }
  return files;
}

}  // namespace weir::program
