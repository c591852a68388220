#include "pipeline/index_map.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include <weir/error.hpp>
#include <weir/random.hpp>

namespace weir::detail {

IndexShuffle::IndexShuffle(std::uint64_t size, std::uint64_t key)
    : size_(size), key_(key), rounds_(size < 1024 ? 16 : 4) {
  const auto bits = static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(size, 2) - 1));
  half_bits_ = (bits + 1) / 2;
}

std::uint64_t IndexShuffle::operator()(std::uint64_t place) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t value = place;
  do {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < rounds_; ++round) {
      const std::uint64_t mixed = mix_bits(key_ + (round << 60U) + right) & mask;
      left = std::exchange(right, left ^ mixed);
    }
    value = (left << half_bits_) | right;
  } while (value >= size_);
  return value;
}

std::uint64_t shard_size(std::uint64_t size, const ShardPlace& shard) {
  const auto world = static_cast<std::uint64_t>(shard.world);
  const std::uint64_t whole = size / world;
  const std::uint64_t left = size % world;
  switch (shard.remainder) {
    case ShardPlace::Remainder::pad:
      return whole + (left > 0 ? 1 : 0);
    case ShardPlace::Remainder::drop:
      return whole;
    case ShardPlace::Remainder::uneven:
      break;
  }
  return whole + (static_cast<std::uint64_t>(shard.rank) < left ? 1 : 0);
}

void IndexMap::add(const Step& step, std::uint32_t step_number) {
  const Stage stage{step.kind, step_number, step.count, step.shard, size_};
  switch (step.kind) {
    case Step::Kind::shuffle:
      if (sequential())
        throw Error(ErrorKind::usage, step.name,
                    "a whole-epoch shuffle behind a buffered one has no index to permute; drop the "
                    "buffered one");
      break;
    case Step::Kind::shuffle_buffer:
      if (!sequential()) first_buffer_ = stages_.size();
      break;
    case Step::Kind::take:
      size_ = std::min(size_, step.count);
      break;
    case Step::Kind::skip:
      size_ -= std::min(size_, step.count);
      break;
    case Step::Kind::repeat:
      if (size_ > 0 && step.count > std::numeric_limits<std::uint64_t>::max() / size_)
        throw Error(
            ErrorKind::usage, step.name,
            "repeat " + std::to_string(step.count) +
                " times makes an epoch of more items "
                "than can be counted; epochs repeat by themselves as often as they are asked for");
      size_ *= step.count;
      break;
    case Step::Kind::shard:
      size_ = shard_size(size_, step.shard);
      break;
    default:
      throw Error(ErrorKind::usage, step.name, "not an operator on the index");
  }
  stages_.push_back(stage);
}

std::uint64_t IndexMap::key(std::uint32_t step_number, std::uint32_t epoch,
                            std::uint32_t repeat) const {
  return mix_bits(mix_bits(seed_ ^ (std::uint64_t{step_number} << 48U)) ^
                  (std::uint64_t{epoch} << 32U) ^ repeat);
}

Located IndexMap::locate(std::size_t stages, std::uint32_t epoch, std::uint32_t outer_repeat,
                         std::uint64_t place) const {
  std::uint32_t repeat = outer_repeat;
  for (std::size_t i = stages; i-- > 0;) {
    const Stage& stage = stages_[i];
    switch (stage.kind) {
      case Step::Kind::shuffle:
        place = IndexShuffle(stage.size_before, key(stage.step_number, epoch, repeat))(place);
        break;
      case Step::Kind::skip:
        place += stage.count;
        break;
      case Step::Kind::repeat:
        repeat = repeat * static_cast<std::uint32_t>(stage.count) +
                 static_cast<std::uint32_t>(place / stage.size_before);
        place %= stage.size_before;
        break;
      case Step::Kind::shard:
        place = (place * static_cast<std::uint64_t>(stage.shard.world) +
                 static_cast<std::uint64_t>(stage.shard.rank)) %
                stage.size_before;  // Beyond the end only with `pad`: begins again at the start.
        break;
      default:
        break;
    }
  }
  return {place, repeat};
}

IndexMap::Walk::~Walk() = default;

class IndexMap::PlainWalk final : public Walk {
 public:
  PlainWalk(const IndexMap& map, std::size_t stages, std::uint32_t epoch, std::uint32_t repeat)
      : map_(map), stages_(stages), epoch_(epoch), repeat_(repeat) {}
  Located next() override {
    return map_.locate(stages_, epoch_, repeat_, place_++ % map_.size_after(stages_));
  }

 private:
  const IndexMap& map_;
  std::size_t stages_;
  std::uint32_t epoch_;
  std::uint32_t repeat_;
  std::uint64_t place_ = 0;
};

class IndexMap::BufferWalk final : public Walk {
 public:
  BufferWalk(std::unique_ptr<Walk> before, std::uint64_t size, std::uint64_t buffer,
             std::uint64_t key)
      : before_(std::move(before)), unread_(size), size_(buffer), key_(key) {}
  Located next() override {
    while (unread_ > 0 && buffer_.size() < size_) {
      buffer_.push_back(before_->next());
      --unread_;
    }
    const std::uint64_t draw = Random(key_, drawn_++).below(buffer_.size());
    const Located result = buffer_[draw];
    buffer_[draw] = buffer_.back();
    buffer_.pop_back();
    return result;
  }

 private:
  std::unique_ptr<Walk> before_;
  std::uint64_t unread_;
  std::uint64_t size_;
  std::uint64_t key_;
  std::uint64_t drawn_ = 0;
  std::vector<Located> buffer_;
};

class IndexMap::CountedWalk final : public Walk {
 public:
  CountedWalk(const IndexMap& map, std::size_t stage, std::uint32_t epoch, std::uint32_t repeat)
      : map_(map),
        stage_(map.stages_[stage]),
        index_(stage),
        epoch_(epoch),
        repeat_(repeat),
        before_(map.walk(stage, epoch, repeat)) {}
  Located next() override {
    if (stage_.kind == Step::Kind::skip && given_ == 0) advance(stage_.count);
    if (stage_.kind == Step::Kind::shard) {
      const auto world = static_cast<std::uint64_t>(stage_.shard.world);
      const std::uint64_t wanted =
          (given_ * world + static_cast<std::uint64_t>(stage_.shard.rank)) % stage_.size_before;
      if (wanted < read_) {  // `pad` begins again at the start.
        before_ = map_.walk(index_, epoch_, repeat_);
        read_ = 0;
      }
      advance(wanted - read_);
    }
    ++given_;
    ++read_;
    return before_->next();
  }

 private:
  void advance(std::uint64_t count) {
    for (; count > 0; --count, ++read_) (void)before_->next();
  }

  const IndexMap& map_;
  const Stage& stage_;
  std::size_t index_;
  std::uint32_t epoch_;
  std::uint32_t repeat_;
  std::unique_ptr<Walk> before_;
  std::uint64_t read_ = 0;
  std::uint64_t given_ = 0;
};

class IndexMap::RepeatWalk final : public Walk {
 public:
  RepeatWalk(const IndexMap& map, std::size_t stage, std::uint32_t epoch, std::uint32_t repeat)
      : map_(map), index_(stage), epoch_(epoch), outer_(repeat) {}
  Located next() override {
    const Stage& stage = map_.stages_[index_];
    if (given_ % stage.size_before == 0) {
      const auto pass = static_cast<std::uint32_t>(given_ / stage.size_before);
      before_ = map_.walk(index_, epoch_, outer_ * static_cast<std::uint32_t>(stage.count) + pass);
    }
    ++given_;
    return before_->next();
  }

 private:
  const IndexMap& map_;
  std::size_t index_;
  std::uint32_t epoch_;
  std::uint32_t outer_;
  std::unique_ptr<Walk> before_;
  std::uint64_t given_ = 0;
};

std::unique_ptr<IndexMap::Walk> IndexMap::walk(std::uint32_t epoch, std::uint32_t pass) const {
  return walk(stages_.size(), epoch, pass);
}

std::unique_ptr<IndexMap::Walk> IndexMap::walk(std::size_t stages, std::uint32_t epoch,
                                               std::uint32_t outer_repeat) const {
  if (stages == 0 || stages <= first_buffer_)
    return std::make_unique<PlainWalk>(*this, stages, epoch, outer_repeat);
  const Stage& last = stages_[stages - 1];
  if (last.kind == Step::Kind::shuffle_buffer)
    return std::make_unique<BufferWalk>(walk(stages - 1, epoch, outer_repeat), last.size_before,
                                        last.count, key(last.step_number, epoch, outer_repeat));
  if (last.kind == Step::Kind::repeat)
    return std::make_unique<RepeatWalk>(*this, stages - 1, epoch, outer_repeat);
  return std::make_unique<CountedWalk>(*this, stages - 1, epoch, outer_repeat);
}

}  // namespace weir::detail
