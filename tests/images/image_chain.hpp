#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/images/operator_call.hpp"

/// Chains of operators on images, run as written and by what replaces them.
namespace weir::test {

struct ChainEntry {
  std::string op;
  Written written;
  bool alone = false;  ///< as if a setting by hand kept it in a stage of its own
};
using Chain = std::vector<ChainEntry>;

inline std::vector<detail::ChainLink> links_of(const Chain& chain,
                                               const std::vector<std::string>& columns = {}) {
  std::vector<detail::ChainLink> links;
  std::uint32_t number = 3;
  for (const ChainEntry& entry : chain)
    links.push_back(
        {make_operator(entry.op, entry.written, columns).shared(), number++, entry.alone, false});
  return links;
}

/// The parts that stand in for the chain, and the operators behind them as written.
inline std::vector<detail::ChainPart> parts_of(const std::vector<detail::ChainLink>& links) {
  std::vector<detail::ChainPart> parts = links.front().op->replace(links);
  std::size_t covered = 0;
  for (detail::ChainPart& part : parts) {
    if (part.op == nullptr) part.op = links[covered].op;
    covered += part.count;
  }
  for (; covered < links.size(); ++covered) parts.push_back({1, links[covered].op});
  return parts;
}

inline Sample run_parts(const std::vector<detail::ChainLink>& links,
                        const std::vector<detail::ChainPart>& parts, Sample sample,
                        const Item& item) {
  std::size_t at = 0;
  for (const detail::ChainPart& part : parts) {
    Item own = item;
    own.operator_index = links[at].number;
    sample = apply(SampleMap(part.op), std::move(sample), own);
    at += part.count;
  }
  return sample;
}

/// Column `image` of a file through the operators as written.
inline Tensor plain_image(const Chain& chain, const Tensor& file, const Item& item = {}) {
  const std::vector<detail::ChainLink> links = links_of(chain);
  std::vector<detail::ChainPart> parts;
  for (const detail::ChainLink& link : links) parts.push_back({1, link.op});
  return std::move(run_parts(links, parts, sample_of(file.clone()), item)["image"]);
}

/// The same through what replaces them.
inline Tensor kernel_image(const Chain& chain, const Tensor& file, const Item& item = {}) {
  const std::vector<detail::ChainLink> links = links_of(chain);
  return std::move(run_parts(links, parts_of(links), sample_of(file.clone()), item)["image"]);
}

/// How far two pictures are apart, in steps of a byte. `scale`: what one step is in their values.
struct Distance {
  double mean = 0;
  double most = 0;
  double psnr = 0;
};
inline Distance distance(const Tensor& a, const Tensor& b, double scale = 1) {
  Distance result;
  double squares = 0;
  const std::int64_t count = a.shape().elements();
  for (std::int64_t i = 0; i < count; ++i) {
    const double difference =
        a.dtype() == DType::u8
            ? std::abs(a.data<std::uint8_t>()[i] - b.data<std::uint8_t>()[i])
            : std::abs(static_cast<double>(a.data<float>()[i]) - b.data<float>()[i]) / scale;
    result.mean += difference / static_cast<double>(count);
    squares += difference * difference / static_cast<double>(count);
    result.most = std::max(result.most, difference);
  }
  result.psnr = squares == 0 ? 99 : 10 * std::log10(255.0 * 255.0 / squares);
  return result;
}

}  // namespace weir::test
