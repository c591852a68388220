#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/context.hpp>
#include <weir/export.hpp>
#include <weir/parameters.hpp>
#include <weir/sample.hpp>

namespace weir {

/// The waits that an operator made, as they really turned out.
struct MeasuredWait {
  std::uint64_t count = 0;
  double seconds = 0.0;
};

class SampleOperator;

namespace detail {

/// One of a chain of adjacent built-in operators, as written.
struct ChainLink {
  std::shared_ptr<const SampleOperator> op;
  std::uint32_t number = 0;  ///< operator number, which random draws depend on
  bool alone = false;        ///< a setting by hand keeps it in a stage of its own
  bool last = false;         ///< what stands behind it is in another stage
};

/// What does the work of `count` adjacent operators; null: they do it themselves.
struct ChainPart {
  std::size_t count = 1;
  std::shared_ptr<const SampleOperator> op;
};

}  // namespace detail

/// One built-in operator on a Sample. Immutable once made: several workers call apply() at once;
/// what a worker needs for itself (a decoder, scratch) lives in thread-local storage of the
/// operator's file.
class WEIR_EXPORT SampleOperator {
 public:
  virtual ~SampleOperator();
  /// Changes `sample` in place. Throws BadSample for a sample that cannot be used.
  virtual void apply(Sample& sample, Context& context) const = 0;
  /// True when a packet hop costs more than the work saved by running apart: `fuse: auto` joins
  /// such operators with their neighbours.
  [[nodiscard]] virtual bool cheap() const { return false; }
  /// What does the work of this operator, `chain[0]`, and of some behind it better than they would
  /// one after another; parts in order, from chain[0] on. Empty: nothing does. May change results
  /// within what is documented, but not by what the links say of stages.
  [[nodiscard]] virtual std::vector<detail::ChainPart> replace(
      std::span<const detail::ChainLink> chain) const;
  /// What the operator has waited in all, over all pipelines that share it; nullopt where it does
  /// not wait. May be asked at any time; calls still running are not in it.
  [[nodiscard]] virtual std::optional<MeasuredWait> measured_wait() const;
};

/// A built-in operator as a function for Stream<Sample>::map: `.map("decode", weir::decode())`.
/// Shares the immutable operator between the pipelines that use it.
class WEIR_EXPORT SampleMap {
 public:
  explicit SampleMap(std::shared_ptr<const SampleOperator> op) : operator_(std::move(op)) {}
  [[nodiscard]] Sample operator()(Sample sample, Context& context) const {
    operator_->apply(sample, context);
    return sample;
  }
  [[nodiscard]] const SampleOperator& op() const { return *operator_; }
  [[nodiscard]] const std::shared_ptr<const SampleOperator>& shared() const { return operator_; }

 private:
  std::shared_ptr<const SampleOperator> operator_;
};

/// One line of the operator table: what `weir operators` prints and the YAML reader uses.
struct OperatorSpec {
  std::string name;
  std::string summary;
  std::vector<ParameterSpec> parameters;
  SampleMap (*make)(const Parameters& parameters, const std::vector<std::string>& columns);
};

/// All built-in operators on samples, sorted by name.
[[nodiscard]] WEIR_EXPORT std::span<const OperatorSpec> operator_table();
[[nodiscard]] WEIR_EXPORT const OperatorSpec* find_operator(std::string_view name);

}  // namespace weir
