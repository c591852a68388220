// A pipeline file read from C++: the same file that `weir run` takes, with a variable set here.
#include <cstddef>
#include <fstream>
#include <iostream>
#include <string>

#include <weir/load_pipeline.hpp>

int main() {
  std::ofstream("yaml_pipeline.yaml") << R"(weir: 1
name: yaml_pipeline
variables: {count: 10, size: 32}
pipeline:
  - photos: {count: "${count}", width: 80, height: 60}
  - decode: {}
  - resize: {size: ["${size}", "${size}"]}
  - to_float: {}
  - batch: {size: 4}
)";

  const weir::Pipeline pipeline = weir::load_pipeline("yaml_pipeline.yaml", {{"count", "12"}});
  auto loader = pipeline.start();
  std::size_t rows = 0;
  for (auto& batch : loader.epoch(0)) {
    const weir::Tensor& image = batch["image"];
    std::cout << image.shape().text() << ' ' << weir::name_of(image.dtype()) << ", first value "
              << image.data<float>()[0] << ", first label " << batch.labels()[0] << '\n';
    rows += batch.size();
  }
  return rows == 12 ? 0 : 1;
}
