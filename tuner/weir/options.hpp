#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <weir/bad_sample_policy.hpp>
#include <weir/placement_mode.hpp>
#include <weir/position.hpp>
#include <weir/reading.hpp>

namespace weir {

/// `any` gives completion order and refuses a resume.
enum class Order { input, any };
/// Which adjacent operators become one stage: cheap built-in ones, all, or none. Never changes a
/// byte.
enum class Fuse { automatic, all, off };
/// Whether chains of image operators are replaced by one kernel, which may change pixels a little;
/// `plain` keeps the operators as written, which are the reference.
enum class ImagePath { automatic, plain };
/// What to do with a tuned file that was made for other stages.
enum class TunedMismatch { refuse, ignore };
enum class NestedThreads { one, keep };

/// How a loader runs. Everything has a sensible default; Stream::start checks the values and throws
/// Error(usage) naming the option.
struct Options {
  std::string name = "pipeline";

  // Work.
  std::uint64_t seed = 0;
  std::optional<std::uint32_t> epochs;  ///< end after so many; none: as long as they are asked for
  Order order = Order::input;
  Fuse fuse = Fuse::automatic;
  ImagePath image_path = ImagePath::automatic;
  BadSamplePolicy on_bad_sample;
  std::string quarantine;  ///< file that lists the bad samples; empty: none
  bool digest = false;     ///< digest what is delivered, see Summary

  // Machine.
  std::optional<int> workers;                 ///< none: the machine's budget
  bool oversubscribe = false;                 ///< allow more workers than the budget, for emulation
  int reserve = 0;                            ///< hardware threads left to the consumer
  std::optional<std::uint64_t> memory_bytes;  ///< none: a quarter of what this process may have
  Reader reader = Reader::automatic;          ///< how files are read; what is read never differs
  NestedThreads nested_threads = NestedThreads::one;
  /// How workers are bound to CPUs; none: as the tuned file says, else by cache domain.
  std::optional<PlacementMode> pin;
  /// Everything on the thread that calls next(), for debugging; no tuning.
  bool run_inline = false;

  // Tuning.
  bool autotune = false;
  std::string policy;  ///< empty: "balance" with autotune; else "share", with strict "even"
  bool strict = false;
  std::map<std::string, std::string> settings;  ///< of the policy, see `weir policies`
  std::string tuned;                            ///< a tuned file to start from
  TunedMismatch tuned_mismatch = TunedMismatch::refuse;
  std::string emit;  ///< where the tuned file is written when settled and at the end
  std::string log;   ///< decision log, JSON lines

  std::optional<Position> resume;
  /// Where messages for the user go, one line each, from any thread of the loader's; the library
  /// itself prints nothing.
  std::function<void(const std::string&)> say;
};

}  // namespace weir
