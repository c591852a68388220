// Cuts a data set of small JPEG tiles from a few large photographs, the same bytes on every run: a
// stand-in for a set of photographs as used for training, without shipping one.
//
// The tiles of one photograph make one class folder. A tile is a region of at least twice its size,
// shrunk, so that it is as detailed as a whole photograph of that size. One JPEG quality serves all
// tiles; it is the one that brings a sample of them closest to the wanted mean size.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

namespace {

namespace fs = std::filesystem;

struct Settings {
  std::string folder;
  std::vector<std::string> pictures;
  int count = 2000;
  int width = 500;
  int height = 375;
  std::size_t mean_bytes = 110'000;
  std::uint64_t seed = 1;
};

/// What is drawn for one tile. Draws are integers modulo a range: unlike the standard
/// distributions, these are the same with every library.
struct Tile {
  cv::Rect region;
  bool progressive = false;
  bool grey = false;
};

Tile draw_tile(const Settings& settings, cv::Size picture, std::mt19937_64& random) {
  const double most =
      std::min(picture.width / double(settings.width), picture.height / double(settings.height));
  const double least = std::min(most, 2.0);
  const double scale = least + (most - least) * double(random() % 1001) / 1000.0;
  Tile tile;
  tile.region.width = std::min(picture.width, int(settings.width * scale));
  tile.region.height = std::min(picture.height, int(settings.height * scale));
  tile.region.x = int(random() % std::uint64_t(picture.width - tile.region.width + 1));
  tile.region.y = int(random() % std::uint64_t(picture.height - tile.region.height + 1));
  tile.progressive = random() % 100 < 10;
  tile.grey = random() % 100 < 2;
  return tile;
}

cv::Mat cut(const Settings& settings, const cv::Mat& picture, const Tile& tile) {
  cv::Mat result;
  cv::resize(picture(tile.region), result, {settings.width, settings.height}, 0, 0, cv::INTER_AREA);
  if (tile.grey) cv::cvtColor(result, result, cv::COLOR_BGR2GRAY);
  return result;
}

std::vector<unsigned char> encode(const cv::Mat& image, bool progressive, int quality) {
  std::vector<unsigned char> bytes;
  cv::imencode(
      ".jpg", image, bytes,
      {cv::IMWRITE_JPEG_QUALITY, quality, cv::IMWRITE_JPEG_PROGRESSIVE, progressive ? 1 : 0});
  return bytes;
}

/// The smallest quality whose mean size over `sample` reaches the wanted one.
int find_quality(const Settings& settings, const std::vector<cv::Mat>& sample) {
  int low = 50;
  int high = 99;
  while (low < high) {
    const int quality = (low + high) / 2;
    std::size_t total = 0;
    for (const cv::Mat& image : sample) total += encode(image, false, quality).size();
    if (total / sample.size() < settings.mean_bytes) {
      low = quality + 1;
    } else {
      high = quality;
    }
  }
  return low;
}

std::string class_name(const std::string& picture, std::set<std::string>& taken) {
  std::string name;
  for (const char c : fs::path(picture).stem().string())
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? char(std::tolower(static_cast<unsigned char>(c)))
                : '_';
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

void write(const fs::path& path, const std::vector<unsigned char>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

int cut_all(const Settings& settings) {
  std::vector<std::string> names = settings.pictures;
  std::sort(names.begin(), names.end());
  std::vector<cv::Mat> pictures;
  std::vector<std::string> classes;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    cv::Mat picture = cv::imread(name, cv::IMREAD_COLOR);
    if (picture.cols < 2 * settings.width || picture.rows < 2 * settings.height) {
      std::cerr << "cut_tiles: left out, too small or not a picture: " << name << "\n";
      continue;
    }
    pictures.push_back(std::move(picture));
    classes.push_back(class_name(name, taken));
  }
  if (pictures.empty()) {
    std::cerr << "cut_tiles: none of " << names.size() << " pictures can be used\n";
    return 1;
  }

  std::mt19937_64 random(settings.seed);
  std::vector<Tile> tiles;
  std::vector<cv::Mat> sample;
  for (int i = 0; i < settings.count; ++i) {
    const cv::Mat& picture = pictures[std::size_t(i) % pictures.size()];
    tiles.push_back(draw_tile(settings, picture.size(), random));
    if (i % 10 == 0) sample.push_back(cut(settings, picture, tiles.back()));
  }
  const int quality = find_quality(settings, sample);

  std::size_t total = 0;
  for (const std::string& name : classes) fs::create_directories(fs::path(settings.folder) / name);
  for (int i = 0; i < settings.count; ++i) {
    const std::size_t source = std::size_t(i) % pictures.size();
    const Tile& tile = tiles[std::size_t(i)];
    const std::vector<unsigned char> bytes =
        encode(cut(settings, pictures[source], tile), tile.progressive, quality);
    const std::string number = std::to_string(1'000'000 + i).substr(1);
    write(fs::path(settings.folder) / classes[source] / ("tile_" + number + ".jpg"), bytes);
    total += bytes.size();
  }
  std::cout << settings.count << " tiles of " << settings.width << "x" << settings.height
            << ", quality " << quality << ", " << total / std::size_t(settings.count) / 1000
            << " kB in the mean, in " << classes.size() << " classes\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Cuts JPEG tiles from photographs, the same bytes on every run.");
  app.add_option("folder", settings.folder, "where the class folders go")->required();
  app.add_option("pictures", settings.pictures, "photographs to cut from")->required();
  app.add_option("--count", settings.count, "tiles in all")->check(CLI::PositiveNumber);
  app.add_option("--width", settings.width)->check(CLI::PositiveNumber);
  app.add_option("--height", settings.height)->check(CLI::PositiveNumber);
  app.add_option("--mean-bytes", settings.mean_bytes)->check(CLI::PositiveNumber);
  app.add_option("--seed", settings.seed);
  CLI11_PARSE(app, argc, argv);
  try {
    return cut_all(settings);
  } catch (const std::exception& error) {
    std::cerr << "cut_tiles: " << error.what() << "\n";
    return 1;
  }
}
