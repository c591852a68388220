#include "tests/pipeline_stress/stress_case.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include <weir/error.hpp>
#include <weir/random.hpp>
#include <weir/sources.hpp>

namespace weir::test {
namespace {

using Kind = StressLink::Kind;

std::uint64_t mixed(std::uint64_t value, std::uint64_t salt) {
  return mix_bits(value * 31 + salt * 0x9e3779b97f4a7c15ULL + 1);
}

/// What one case does to one item, shared by the pipeline and its reference.
struct Rules {
  std::uint64_t seed;
  std::uint32_t most_bytes;
  bool jitters;

  [[nodiscard]] Item item(std::uint64_t id) const {
    if (jitters && mixed(id, 5) % 16 == 0) std::this_thread::yield();
    return {id, static_cast<std::uint32_t>(1 + mixed(id, seed) % most_bytes)};
  }
  [[nodiscard]] bool bad(std::uint64_t id, std::uint64_t link) const {
    return mixed(id, seed + link) % 5 == 0;
  }
  [[nodiscard]] bool keeps(std::uint64_t id, std::uint64_t link, std::uint64_t count) const {
    return mixed(id, seed + link) % count == 0;
  }
  [[nodiscard]] std::vector<std::uint64_t> expanded(std::uint64_t id, std::uint64_t link,
                                                    std::uint64_t count) const {
    const std::uint64_t parts = mixed(id, seed + link) % (count + 1);
    std::vector<std::uint64_t> ids;
    for (std::uint64_t i = 0; i < parts; ++i) ids.push_back(mixed(id, i + 77));
    return ids;
  }
};

Rules rules_of(const StressCase& stress) {
  return {stress.seed, stress.most_item_bytes, stress.jitters};
}

Stream<Item> source_of(const StressCase& stress) {
  const Rules rules = rules_of(stress);
  const std::uint64_t items = stress.items;
  if (stress.indexed)
    return indexed("source", items, [rules](std::uint64_t i) { return rules.item(i); });
  return generate("source", [rules, items] {
    return [rules, items, next = std::uint64_t{0}]() mutable -> std::optional<Item> {
      if (next == items) return std::nullopt;
      return rules.item(next++);
    };
  });
}

Stream<Item> with_link(const Stream<Item>& stream, const StressCase& stress, std::size_t index) {
  const Rules rules = rules_of(stress);
  const StressLink link = stress.links[index];
  const std::string name = "step" + std::to_string(index);
  const auto next = [rules, index](Item item) { return rules.item(mixed(item.id, index)); };
  StageOptions options;
  switch (link.kind) {
    case Kind::map:
      return stream.map(name, next);
    case Kind::serial_map:
      options.serial = true;
      return stream.map(name, next, options);
    case Kind::capped_map:
      options.cap = static_cast<int>(link.count);
      return stream.map(name, next, options);
    case Kind::bad_map:
      return stream.map(name, [rules, index](Item item) {
        if (rules.bad(item.id, index)) throw BadSample("bad by rule");
        return item;
      });
    case Kind::filter:
      return stream.filter(name, [rules, index, link](const Item& item) {
        return rules.keeps(item.id, index, link.count);
      });
    case Kind::flat_map:
      return stream.flat_map(name, [rules, index, link](Item item) {
        std::vector<Item> parts;
        for (const std::uint64_t id : rules.expanded(item.id, index, link.count))
          parts.push_back(rules.item(id));
        return parts;
      });
    case Kind::generator:
      return stream.flat_map(name, [rules, index, link](Item item) {
        return [rules, ids = rules.expanded(item.id, index, link.count),
                next = std::size_t{0}]() mutable -> std::optional<Item> {
          if (next == ids.size()) return std::nullopt;
          return rules.item(ids[next++]);
        };
      });
    case Kind::shuffle_buffer:
      return stream.shuffle({.buffer = link.count});
    case Kind::take:
      return stream.take(link.count);
    case Kind::skip:
      return stream.skip(link.count);
  }
  return stream;
}

}  // namespace

StressCase stress_case(std::uint64_t seed) {
  std::mt19937_64 random(mixed(seed, 1));
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  StressCase stress;
  stress.seed = seed;
  stress.items = below(10) == 0 ? below(3) : 1 + below(60);
  stress.indexed = below(4) != 0;
  stress.epochs = static_cast<std::uint32_t>(1 + below(3));
  stress.any_order = below(5) == 0;
  stress.fusion = below(3) == 0 ? detail::Fusion::all : detail::Fusion::off;
  stress.most_item_bytes = below(3) == 0 ? 1 : static_cast<std::uint32_t>(1 + below(1000));
  const std::uint64_t count = below(6);
  bool mixes = false;
  bool bad = false;
  bool index = stress.indexed;
  for (std::uint64_t i = 0; i < count; ++i) {
    StressLink link;
    link.kind = static_cast<Kind>(below(10));
    const bool counts = link.kind == Kind::take || link.kind == Kind::skip;
    // What a count leaves behind a shuffle, or with any order, is no function of the items.
    // While the index holds, counts are of places, bad samples included.
    if (counts && (mixes || stress.any_order || (bad && index))) link.kind = Kind::map;
    bad = bad || link.kind == Kind::bad_map;
    const bool splits = link.kind == Kind::flat_map || link.kind == Kind::generator;
    index = index && link.kind != Kind::filter && !splits;
    if (link.kind == Kind::shuffle_buffer) mixes = true;
    switch (link.kind) {
      case Kind::capped_map:
        link.count = 1 + below(3);
        break;
      case Kind::filter:
        link.count = 1 + below(4);
        break;
      case Kind::flat_map:
      case Kind::generator:
        link.count = 1 + below(4);
        break;
      case Kind::shuffle_buffer:
        link.count = 1 + below(12);
        break;
      case Kind::take:
        link.count = 1 + below(40);
        break;
      case Kind::skip:
        link.count = below(10);
        break;
      default:
        break;
    }
    stress.links.push_back(link);
  }
  if (below(3) != 0) {
    stress.rows = 1 + below(8);
    // Which rows a remainder loses depends on the order.
    stress.drop_remainder = !mixes && !stress.any_order && below(3) == 0;
    stress.map_batches = below(3) == 0;
  }
  return stress;
}

std::string StressCase::text() const {
  static constexpr const char* kNames[] = {"map",    "serial_map", "capped_map", "bad_map",
                                           "filter", "flat_map",   "generator",  "shuffle_buffer",
                                           "take",   "skip"};
  std::string text = "seed " + std::to_string(seed) + ": " + std::to_string(items) +
                     (indexed ? " indexed" : " generated") + " items, " + std::to_string(epochs) +
                     " epochs";
  for (const StressLink& link : links)
    text +=
        std::string(", ") + kNames[static_cast<int>(link.kind)] + " " + std::to_string(link.count);
  if (rows > 0)
    text += ", batch " + std::to_string(rows) + (drop_remainder ? " drop" : "") +
            (map_batches ? ", map" : "");
  if (any_order) text += ", any order";
  if (fusion == detail::Fusion::all) text += ", fused";
  return text + ", items of at most " + std::to_string(most_item_bytes) + " bytes";
}

bool StressCase::shuffled() const {
  return std::any_of(links.begin(), links.end(),
                     [](const StressLink& link) { return link.kind == Kind::shuffle_buffer; });
}

std::vector<std::uint64_t> StressCase::reference() const {
  const Rules rules = rules_of(*this);
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < items; ++i) ids.push_back(i);
  for (std::size_t l = 0; l < links.size(); ++l) {
    const StressLink& link = links[l];
    std::vector<std::uint64_t> next;
    for (const std::uint64_t id : ids) {
      switch (link.kind) {
        case Kind::map:
        case Kind::serial_map:
        case Kind::capped_map:
          next.push_back(mixed(id, l));
          break;
        case Kind::bad_map:
          if (!rules.bad(id, l)) next.push_back(id);
          break;
        case Kind::filter:
          if (rules.keeps(id, l, link.count)) next.push_back(id);
          break;
        case Kind::flat_map:
        case Kind::generator:
          for (const std::uint64_t part : rules.expanded(id, l, link.count)) next.push_back(part);
          break;
        case Kind::shuffle_buffer:
          next.push_back(id);
          break;
        case Kind::take:
          if (next.size() < link.count) next.push_back(id);
          break;
        case Kind::skip:
          next.push_back(id);
          break;
      }
    }
    if (link.kind == Kind::skip)
      next.erase(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                                                  link.count, next.size())));
    ids = std::move(next);
  }
  if (rows > 0 && drop_remainder) ids.resize(ids.size() / rows * rows);
  return ids;
}

std::uint64_t StressCase::most_output_bytes() const {
  std::uint64_t most = most_item_bytes;
  for (const StressLink& link : links)
    if (link.kind == Kind::flat_map)
      most = std::max(most, sizeof(std::vector<Item>) + link.count * most_item_bytes);
  if (rows > 0) most = std::max(most, sizeof(std::vector<Item>) + rows * most_item_bytes);
  return most;
}

std::uint64_t StressCase::batch_bytes() const {
  std::uint64_t bytes =
      sizeof(std::vector<Item>) + std::max<std::uint64_t>(rows, 1) * most_item_bytes;
  bool splits = false;
  for (const StressLink& link : links) {
    const std::uint64_t container = sizeof(std::vector<Item>) + link.count * most_item_bytes;
    if (link.kind == Kind::generator) bytes += sizeof(void*);
    if (link.kind == Kind::flat_map) {
      splits = true;
      bytes +=
          container;  // Held whole until its last item, which may be of the next batch, moves on.
    }
    // A shuffle gives nothing before its buffer is full, and parts in it hold their containers
    // whole.
    if (link.kind == Kind::shuffle_buffer)
      bytes += link.count * (splits ? most_output_bytes() : most_item_bytes);
  }
  return bytes;
}

StressStream stream_of(const StressCase& stress) {
  Stream<Item> stream = source_of(stress);
  for (std::size_t i = 0; i < stress.links.size(); ++i) stream = with_link(stream, stress, i);
  if (stress.rows == 0) return stream;
  Stream<Batch<Item>> batches =
      stream.batch(stress.rows, {.drop_remainder = stress.drop_remainder});
  if (stress.map_batches)
    batches = batches.map("on_batches", [](Batch<Item> batch) { return batch; });
  return batches;
}

detail::StagePlan plan_of(const StressCase& stress) {
  return std::visit(
      [&stress](const auto& stream) {
        return detail::make_stage_plan(stream.step(), stress.seed, stress.fusion, stress.any_order);
      },
      stream_of(stress));
}

std::vector<std::uint64_t> ids_in(const StressCase& stress, detail::SlotHeader* slot) {
  if (stress.rows == 0) return {static_cast<detail::Slot<Item>*>(slot)->value().id};
  std::vector<std::uint64_t> ids;
  for (const Item& item : static_cast<detail::Slot<Batch<Item>>*>(slot)->value().items())
    ids.push_back(item.id);
  return ids;
}

}  // namespace weir::test
