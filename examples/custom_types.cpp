// Any movable type travels. bytes_of, beside the type, tells the memory bound what a value weighs;
// a collate function makes a batch of one's own shape.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace sound {

/// Owns memory that sizeof does not see, and cannot be copied.
struct Clip {
  std::unique_ptr<float[]> samples;
  std::size_t length = 0;
};
std::size_t bytes_of(const Clip& clip) { return sizeof(Clip) + clip.length * sizeof(float); }

/// Clips one after another, and where each ends.
struct Clips {
  std::vector<float> samples;
  std::vector<std::size_t> ends;
};
std::size_t bytes_of(const Clips& clips) {
  return clips.samples.size() * sizeof(float) + clips.ends.size() * sizeof(std::size_t);
}

Clip make(std::int64_t n) {
  const auto length = static_cast<std::size_t>(100 + n % 7);
  return {std::make_unique<float[]>(length), length};
}

Clips collate(std::vector<Clip> clips) {
  Clips result;
  for (const Clip& clip : clips) {
    result.samples.insert(result.samples.end(), clip.samples.get(),
                          clip.samples.get() + clip.length);
    result.ends.push_back(result.samples.size());
  }
  return result;
}

}  // namespace sound

int main() {
  auto pipeline = weir::range(64).map("make", sound::make).batch(8, sound::collate);
  auto loader = pipeline.start();
  std::size_t samples = 0;
  for (auto& batch : loader.epoch(0)) {
    const sound::Clips& clips = batch.value();
    samples += clips.ends.back();
    std::cout << batch.size() << " clips, " << clips.samples.size() << " samples\n";
  }
  std::cout << "memory peak " << loader.summary().peak_bytes << " bytes\n";
  return samples == 6589 ? 0 : 1;
}
