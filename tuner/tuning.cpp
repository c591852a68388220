#include <weir/tuning.hpp>

#include <weir/error.hpp>
#include <weir/mutex.hpp>

#include "tuner/control.hpp"
#include "tuner/tuner.hpp"

#include <exception>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace weir {

/// One tuner and its task on the control thread.
struct Tuning::Shared {
  Shared(Plant& steered, const TuningOptions& chosen)
      : plant(steered), options(chosen), tuner(steered, chosen) {}
  ~Shared() {
    if (task != 0) detail::Control::instance().remove(task);
  }

  Plant& plant;
  const TuningOptions options;
  detail::Tuner tuner;
  std::uint64_t task = 0;
};

namespace {

// Which plants are being tuned. A handle that is being destroyed holds the mutex until the control
// thread has let go of the plant, so that a new attach() never finds a dying tuner.
template <class SharedTuner>
struct Registry {
  Mutex mutex;
  std::map<Plant*, std::weak_ptr<SharedTuner>> tuners WEIR_GUARDED_BY(mutex);

  // Never destroyed, like the control thread's owner.
  static Registry& instance() {
    static Registry* const kRegistry = new Registry;
    return *kRegistry;
  }
};

bool same_way(const TuningOptions& a, const TuningOptions& b) {
  return a.policy == b.policy && a.strict == b.strict && a.settings == b.settings &&
         a.log_path == b.log_path;
}

}  // namespace

Tuning::Tuning(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

Tuning Tuning::attach(Plant& plant, const TuningOptions& options) {
  Registry<Shared>& registry = Registry<Shared>::instance();
  const MutexLock lock(registry.mutex);
  if (std::shared_ptr<Shared> there = registry.tuners[&plant].lock()) {
    if (!same_way(there->options, options))
      throw Error(ErrorKind::usage, "tuning",
                  fmt::format("the workers are already being tuned, with policy '{}'{}; a second "
                              "loader asks for '{}'{} or for other settings or another log; use "
                              "the same for both",
                              there->options.policy, there->options.strict ? " (strict)" : "",
                              options.policy, options.strict ? " (strict)" : ""));
    return Tuning(std::move(there));
  }
  std::shared_ptr<Shared> made = std::make_shared<Shared>(plant, options);
  detail::Tuner& tuner = made->tuner;
  made->task = detail::Control::instance().add([&tuner] {
    // Nothing may leave the control thread but through the status.
    try {
      return tuner.step();
    } catch (const std::exception& error) {
      tuner.fail(error.what());
    } catch (...) {
      tuner.fail("an exception of unknown type");
    }
    return -1.0;
  });
  registry.tuners[&plant] = made;
  return Tuning(std::move(made));
}

Tuning::Tuning(Tuning&&) noexcept = default;

Tuning& Tuning::operator=(Tuning&& other) noexcept {
  if (this != &other) {
    detach();
    shared_ = std::move(other.shared_);
    last_ = std::move(other.last_);
  }
  return *this;
}

Tuning::~Tuning() { detach(); }

void Tuning::detach() {
  if (!shared_) return;
  last_ = std::make_unique<TuningStatus>(shared_->tuner.status());
  Registry<Shared>& registry = Registry<Shared>::instance();
  const MutexLock lock(registry.mutex);
  Plant* const plant = &shared_->plant;
  shared_.reset();
  const auto found = registry.tuners.find(plant);
  if (found != registry.tuners.end() && found->second.expired()) registry.tuners.erase(found);
}

TuningStatus Tuning::status() const {
  if (shared_) return shared_->tuner.status();
  return last_ ? *last_ : TuningStatus{};
}

}  // namespace weir
