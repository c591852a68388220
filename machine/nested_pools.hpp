#pragma once

#include <weir/mutex.hpp>

#include <functional>
#include <string>
#include <vector>

namespace weir {

/// Holds the thread pools of other libraries to one thread while loaders run: threads that they
/// start would come on top of the budget.
///
/// Holding is counted for the whole process: the first hold() notes each pool's size and sets it to
/// 1, the last release() restores it. For the whole process, because OpenCV's setting is seen by
/// every thread (with Debian's build), so "inside workers only" would be a race. A pool whose size
/// somebody changed while it was held is left as they set it.
///
/// **Thread safety**: every operation may be called from any thread. Hooks are called with the
/// mutex held and must not call back.
/// **Invariants**: (1) while held, every registered pool has been set to 1, late-comers included;
/// (2) each saved size is restored once.
class NestedPools {
 public:
  using Get = std::function<int()>;
  using Set = std::function<void(int threads)>;

  /// The one of this process. It knows OpenBLAS, looked up by name at each first hold.
  [[nodiscard]] static NestedPools& process();

  NestedPools() = default;
  NestedPools(const NestedPools&) = delete;
  NestedPools& operator=(const NestedPools&) = delete;

  /// Adds a pool. A name that is known already is passed over, so that every user of a library may
  /// register it.
  void add(const std::string& name, Get get, Set set) WEIR_EXCLUDES(mutex_);

  void hold() WEIR_EXCLUDES(mutex_);
  /// Requires: a hold() not released yet.
  void release() WEIR_EXCLUDES(mutex_);
  [[nodiscard]] int holders() const WEIR_EXCLUDES(mutex_);
  /// The pools that are held now, by name.
  [[nodiscard]] std::vector<std::string> held() const WEIR_EXCLUDES(mutex_);

 private:
  struct Pool {
    std::string name;
    Get get;
    Set set;
    int saved = 0;  // size before the hold; 0: not held
  };
  static void hold_one(Pool& pool);
  void add_locked(const std::string& name, Get get, Set set) WEIR_REQUIRES(mutex_);
  void find_openblas() WEIR_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::vector<Pool> pools_ WEIR_GUARDED_BY(mutex_);
  int holders_ WEIR_GUARDED_BY(mutex_) = 0;
  bool looks_for_openblas_ WEIR_GUARDED_BY(mutex_) = false;
};

/// Adds a pool to the process's guard.
void register_nested_pool(const std::string& name, NestedPools::Get get, NestedPools::Set set);

/// Holds the process's nested pools for its lifetime; one a loader.
class NestedPoolsHold {
 public:
  NestedPoolsHold() { NestedPools::process().hold(); }
  ~NestedPoolsHold() { NestedPools::process().release(); }
  NestedPoolsHold(const NestedPoolsHold&) = delete;
  NestedPoolsHold& operator=(const NestedPoolsHold&) = delete;
};

/// Holds OpenMP to one thread on the calling thread for its lifetime, where an OpenMP runtime is
/// loaded: its setting belongs to each thread, so every worker makes one at its start, and a
/// consumer that runs stages itself makes one around them.
///
/// **Thread safety**: made and destroyed by the same thread.
class OpenMpHold {
 public:
  OpenMpHold();
  ~OpenMpHold();
  OpenMpHold(const OpenMpHold&) = delete;
  OpenMpHold& operator=(const OpenMpHold&) = delete;

 private:
  int saved_ = 0;  // 0: nothing to restore
};

}  // namespace weir
