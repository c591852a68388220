// make_corpus DIR: what fuzzing begins with. DIR/images gets a small file of every kind that the
// tests know, DIR/files the pipeline files of the project and one with every operator; files.dict
// the words of pipeline files; DIR/learnt is emptied.
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

#include <weir/operators.hpp>
#include <weir/sample_operator.hpp>

#include "tests/images/file_zoo.hpp"

namespace {

namespace fs = std::filesystem;

/// Larger ones slow everything down and add nothing.
constexpr std::size_t kMostBytes = 20'000;

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void make_images(const fs::path& folder) {
  fs::create_directories(folder);
  for (const weir::test::ZooFile& file : weir::test::file_zoo())
    if (file.bytes.size() <= kMostBytes)
      write(folder / file.name, std::string(file.bytes.begin(), file.bytes.end()));
}

/// A pipeline with one operator, every parameter written with its default.
std::string pipeline_with(const weir::OperatorSpec& spec) {
  std::string parameters;
  for (const weir::ParameterSpec& parameter : spec.parameters) {
    if (!parameters.empty()) parameters += ", ";
    parameters += parameter.name + ": " + (parameter.fallback.empty() ? "1" : parameter.fallback);
  }
  return "weir: 1\nname: one\nvariables: {n: 4}\nseed: 3\npipeline:\n  - photos: {count: 10}\n"
         "  - decode: {}\n  - " +
         spec.name + ": {" + parameters + "}\n    workers: 2\n  - batch: {size: \"${n}\"}\n" +
         "consumer: {step_time: 3ms}\nrun: {epochs: 2, workers: auto, memory: 1GiB, "
         "on_bad_sample: {action: skip, max: 1%}}\ntuning: {policy: balance}\n";
}

void make_files(const fs::path& folder, const fs::path& dictionary) {
  fs::create_directories(folder);
  std::set<std::string> words{"weir: 1", "pipeline:", "variables:", "run:",   "consumer:",
                              "tuning:", "device:",   "range",      "photos", "shuffle",
                              "batch",   "repeat",    "take",       "${",     "parent_folder"};
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WEIR_SOURCE_DIR) / "configs"))
    if (entry.path().extension() == ".yaml")
      write(folder / entry.path().filename(), text_of(entry.path()));
  for (const weir::OperatorSpec& spec : weir::operator_table()) {
    write(folder / (spec.name + ".yaml"), pipeline_with(spec));
    words.insert(spec.name);
    for (const weir::ParameterSpec& parameter : spec.parameters) words.insert(parameter.name);
  }
  std::string text;
  for (const std::string& word : words) text += "\"" + word + "\"\n";
  write(dictionary, text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_corpus DIR\n";
    return 2;
  }
  try {
    const fs::path folder = argv[1];
    // What an earlier run learnt in these is no beginning.
    for (const char* name : {"images", "files", "learnt"}) fs::remove_all(folder / name);
    fs::create_directories(folder / "learnt");
    make_images(folder / "images");
    make_files(folder / "files", folder / "files.dict");
  } catch (const std::exception& error) {
    std::cerr << "make_corpus: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
