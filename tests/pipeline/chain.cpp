#include "tests/pipeline/chain.hpp"

#include <algorithm>
#include <ostream>
#include <random>
#include <utility>

#include <weir/context.hpp>
#include <weir/random.hpp>
#include <weir/sources.hpp>

#include "pipeline/index_map.hpp"

namespace weir::test {
namespace {

using Kind = Link::Kind;
using Remainder = detail::ShardPlace::Remainder;

// What the functions of a chain do, for pipeline and reference alike: a draw of the item's own
// generator is part of the value, so that a wrong key shows.
std::int64_t mapped(std::int64_t value, Context& context) {
  return value * 3 + static_cast<std::int64_t>(context.random().below(1000)) * 1'000'003 +
         static_cast<std::int64_t>(context.epoch()) +
         static_cast<std::int64_t>(context.repeat()) * 17 +
         static_cast<std::int64_t>(context.split()) * 29;
}

bool kept(std::int64_t value) { return mix_bits(static_cast<std::uint64_t>(value)) % 3 != 0; }

std::vector<std::int64_t> expanded(std::int64_t value) {
  std::vector<std::int64_t> values;
  const std::uint64_t count = mix_bits(static_cast<std::uint64_t>(value) + 1) % 4;
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(value * 5 + static_cast<int>(i));
  return values;
}

/// An item, or a batch of them, on its way through the reference.
struct Piece {
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> ids;
  SampleInfo info;  ///< of the last row
};

struct Reference {
  const Chain& chain;
  std::uint64_t seed;
  std::uint32_t epoch;

  /// True when places are a function of the source's index behind the first `count` links.
  [[nodiscard]] bool indexed(std::size_t count) const {
    if (!chain.indexed) return false;
    return std::none_of(chain.links.begin(),
                        chain.links.begin() + static_cast<std::ptrdiff_t>(count),
                        [](const Link& link) {
                          return link.kind == Kind::filter || link.kind == Kind::flat_map ||
                                 link.kind == Kind::batch;
                        });
  }

  [[nodiscard]] std::uint64_t key(std::size_t number, std::uint32_t repeat, bool by_index) const {
    const std::uint64_t step = by_index ? std::uint64_t{number} << 48U : number;
    return mix_bits(mix_bits(seed ^ step) ^ (std::uint64_t{epoch} << 32U) ^ repeat);
  }

  [[nodiscard]] std::vector<Piece> source(std::uint32_t repeat) const {
    std::vector<Piece> pieces;
    for (std::int64_t i = 0; i < chain.items; ++i) {
      Piece piece{{i}, {static_cast<std::uint64_t>(i)}, {}};
      piece.info.sample_id = static_cast<std::uint64_t>(i);
      piece.info.epoch = epoch;
      piece.info.repeat = repeat;
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  /// What the first `count` links give in pass `repeat`.
  [[nodiscard]] std::vector<Piece> behind(std::size_t count, std::uint32_t repeat) const {
    if (count == 0) return source(repeat);
    const Link& link = chain.links[count - 1];
    if (link.kind == Kind::repeat) {
      std::vector<Piece> pieces;
      for (std::uint32_t pass = 0; pass < link.count; ++pass) {
        std::vector<Piece> more =
            behind(count - 1, repeat * static_cast<std::uint32_t>(link.count) + pass);
        std::move(more.begin(), more.end(), std::back_inserter(pieces));
      }
      return pieces;
    }
    std::vector<Piece> in = behind(count - 1, repeat);
    std::vector<Piece> out;
    switch (link.kind) {
      case Kind::map:
        for (Piece& piece : in) {
          Context context(seed, static_cast<std::uint32_t>(count), piece.info, 0, {});
          piece.values[0] = mapped(piece.values[0], context);
        }
        return in;
      case Kind::filter:
        std::copy_if(in.begin(), in.end(), std::back_inserter(out),
                     [](const Piece& piece) { return kept(piece.values[0]); });
        return out;
      case Kind::flat_map:
        for (const Piece& piece : in) {
          std::uint32_t split = 0;
          for (const std::int64_t value : expanded(piece.values[0])) {
            out.push_back({{value}, piece.ids, piece.info});
            out.back().info.split = split++;
          }
        }
        return out;
      case Kind::shuffle: {
        const detail::IndexShuffle shuffle(in.size(), key(count, repeat, true));
        for (std::uint64_t i = 0; i < in.size(); ++i) out.push_back(in[shuffle(i)]);
        return out;
      }
      case Kind::shuffle_buffer:
        return drawn(in, count, repeat);
      case Kind::take:
        in.resize(std::min<std::size_t>(in.size(), link.count));
        return in;
      case Kind::skip:
        in.erase(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(
                                              std::min<std::size_t>(in.size(), link.count)));
        return in;
      case Kind::shard:
        return sharded(in, link);
      case Kind::batch:
        return batched(in, link);
      default:
        return in;
    }
  }

  [[nodiscard]] std::vector<Piece> drawn(const std::vector<Piece>& in, std::size_t count,
                                         std::uint32_t repeat) const {
    const bool by_index = indexed(count - 1);
    std::vector<Piece> buffer;
    std::vector<Piece> out;
    std::size_t read = 0;
    while (out.size() < in.size()) {
      while (read < in.size() && buffer.size() < chain.links[count - 1].count)
        buffer.push_back(in[read++]);
      const std::uint32_t pass = by_index ? repeat : buffer.front().info.repeat;
      const std::uint64_t at = Random(key(count, pass, by_index), out.size()).below(buffer.size());
      out.push_back(buffer[at]);
      buffer[at] = buffer.back();
      buffer.pop_back();
    }
    return out;
  }

  static std::vector<Piece> sharded(const std::vector<Piece>& in, const Link& link) {
    std::vector<Piece> out;
    std::size_t size = in.size();
    if (link.remainder == Remainder::drop) size -= size % link.count;
    if (link.remainder == Remainder::pad) size += (link.count - size % link.count) % link.count;
    for (std::size_t i = static_cast<std::size_t>(link.rank); i < size; i += link.count)
      if (!in.empty()) out.push_back(in[i % in.size()]);
    return out;
  }

  static std::vector<Piece> batched(const std::vector<Piece>& in, const Link& link) {
    std::vector<Piece> out;
    for (std::size_t begin = 0; begin < in.size(); begin += link.count) {
      const std::size_t end = std::min<std::size_t>(begin + link.count, in.size());
      if (end - begin < link.count && link.drop_remainder) break;
      Piece batch;
      for (std::size_t i = begin; i < end; ++i) {
        batch.values.push_back(in[i].values[0]);
        batch.ids.push_back(in[i].ids[0]);
        batch.info = in[i].info;
      }
      out.push_back(std::move(batch));
    }
    return out;
  }
};

template <class T>
Stream<T> structure(const Stream<T>& stream, const Link& link) {
  switch (link.kind) {
    case Kind::shuffle:
      return stream.shuffle();
    case Kind::shuffle_buffer:
      return stream.shuffle({.buffer = link.count});
    case Kind::repeat:
      return stream.repeat(link.count);
    case Kind::take:
      return stream.take(link.count);
    case Kind::skip:
      return stream.skip(link.count);
    case Kind::prefetch:
      return stream.prefetch(link.count);
    default:
      return stream.shard(
          {.rank = link.rank, .world = static_cast<int>(link.count), .remainder = link.remainder});
  }
}

}  // namespace

std::string Chain::text() const {
  static const char* const names[] = {"map",     "filter", "flat_map", "shuffle", "shuffle_buffer",
                                      "repeat",  "take",   "skip",     "shard",   "batch",
                                      "prefetch"};
  std::string result = (indexed ? "range(" : "generate(") + std::to_string(items) + ")";
  for (const Link& link : links) {
    result += std::string(".") + names[static_cast<int>(link.kind)] + "(";
    if (link.count > 0) result += std::to_string(link.count);
    if (link.kind == Kind::shard)
      result += ", " + std::to_string(link.rank) + ", " +
                std::to_string(static_cast<int>(link.remainder));
    result += link.drop_remainder ? ", drop)" : ")";
  }
  return result;
}

bool Chain::batched() const {
  return std::any_of(links.begin(), links.end(),
                     [](const Link& link) { return link.kind == Kind::batch; });
}

Chain random_chain(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t count) { return random() % count; };
  Chain chain;
  chain.items = static_cast<std::int64_t>(below(4) == 0 ? below(6) : below(70));
  chain.indexed = below(4) != 0;
  bool index = chain.indexed;
  bool walked = false;  // a buffered shuffle on the index
  bool outer_repeat = false;
  bool batched = false;
  const std::uint64_t length = 1 + below(7);
  while (chain.links.size() < length) {
    Link link;
    link.kind = static_cast<Kind>(below(11));
    switch (link.kind) {
      case Kind::map:
      case Kind::filter:
      case Kind::flat_map:
        if (batched) continue;
        if (link.kind != Kind::map) index = false;
        break;
      case Kind::shuffle:
        if (!index || walked) continue;
        break;
      case Kind::shuffle_buffer:
        link.count = 1 + below(12);
        walked = walked || index;
        break;
      case Kind::repeat:
        if (!index && std::exchange(outer_repeat, true)) continue;
        link.count = 1 + below(3);
        break;
      case Kind::take:
        link.count = below(40);
        break;
      case Kind::skip:
        link.count = below(9);
        break;
      case Kind::shard:
        link.count = 1 + below(4);
        link.rank = static_cast<int>(below(link.count));
        link.remainder = static_cast<Remainder>(index ? below(3) : 1 + below(2));
        break;
      case Kind::batch:
        if (batched) continue;
        batched = true;
        index = false;
        link.count = 1 + below(9);
        link.drop_remainder = below(2) == 0;
        break;
      case Kind::prefetch:
        link.count = 1 + below(5);
        break;
    }
    chain.links.push_back(link);
  }
  return chain;
}

ChainStream stream_of(const Chain& chain, std::function<void()> on_source) {
  const std::int64_t items = chain.items;
  Stream<std::int64_t> values = chain.indexed ? range(items) : generate("numbers", [items] {
    return [items, next = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
      return next < items ? std::optional<std::int64_t>(next++) : std::nullopt;
    };
  });
  std::optional<Stream<Batch<std::int64_t>>> batches;
  for (const Link& link : chain.links) {
    switch (link.kind) {
      case Kind::map:
        values = values.map("map", [on_source](std::int64_t value, Context& context) {
          if (on_source) on_source();
          return mapped(value, context);
        });
        break;
      case Kind::filter:
        values = values.filter("filter", [](const std::int64_t& value) { return kept(value); });
        break;
      case Kind::flat_map:
        values = values.flat_map("flat_map", [](std::int64_t value) { return expanded(value); });
        break;
      case Kind::batch:
        batches = values.batch(link.count, {.drop_remainder = link.drop_remainder});
        break;
      default:
        if (batches)
          batches = structure(*batches, link);
        else
          values = structure(values, link);
    }
  }
  if (batches) return *batches;
  return values;
}

void PrintTo(const Given& given, std::ostream* out) {
  *out << "epoch " << given.epoch << " (";
  for (const std::int64_t value : given.values) *out << ' ' << value;
  *out << " )";
}

std::vector<Given> reference(const Chain& chain, std::uint64_t seed, std::uint32_t epoch) {
  std::vector<Given> given;
  for (Piece& piece : Reference{chain, seed, epoch}.behind(chain.links.size(), 0)) {
    Given& one = given.emplace_back();
    one.values = std::move(piece.values);
    if (chain.batched()) one.ids = std::move(piece.ids);
    one.epoch = chain.batched() ? epoch : 0;
  }
  return given;
}

}  // namespace weir::test
