// photographs [FOLDER]: files to batches of floats, with a label from each file's folder. Without a
// folder it makes one of generated photographs, in the current folder.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <weir/load_pipeline.hpp>
#include <weir/weir.hpp>

namespace {

// The source `photos` of pipeline files gives generated JPEGs; writes them as FOLDER/classN/ID.jpg.
std::string make_photographs() {
  const std::filesystem::path folder = "generated_photographs";
  const std::string text =
      "weir: 1\n"
      "pipeline: [photos: {count: 60, width: 120, height: 90}, batch: {size: 1}]\n";
  auto loader = weir::parse_pipeline(text, "photographs").start();
  for (auto& batch : loader.epoch(0)) {
    const auto directory = folder / ("class" + std::to_string(batch.labels()[0]));
    std::filesystem::create_directories(directory);
    std::ofstream file(directory / (std::to_string(batch.ids()[0]) + ".jpg"), std::ios::binary);
    const weir::Tensor& bytes = batch["image"];
    file.write(reinterpret_cast<const char*>(bytes.bytes()),
               static_cast<std::streamsize>(bytes.size_bytes()));
  }
  return folder.string();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : make_photographs();
  auto pipeline = weir::files(folder, {.labels = weir::Labels::parent_folder})
                      .shuffle()
                      .read_samples()
                      .map("decode", weir::decode())
                      .map("crop", weir::random_resized_crop({.size = 64}))
                      .map("flip", weir::random_horizontal_flip())
                      .map("to_float", weir::to_float())
                      .map("chw", weir::hwc_to_chw())
                      .batch(8);

  auto loader = pipeline.start();
  std::size_t photographs = 0;
  for (auto& batch : loader.epoch(0)) {
    photographs += batch.size();
    std::cout << batch["image"].shape().text() << " first of class "
              << loader.classes()[static_cast<std::size_t>(batch.labels()[0])] << '\n';
  }
  std::cout << loader.summary();
  return photographs > 0 ? 0 : 1;
}
