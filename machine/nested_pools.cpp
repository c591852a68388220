#include "machine/nested_pools.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <dlfcn.h>

namespace weir {
namespace {

/// A function of a library that this program may or may not have loaded. The library is not linked,
/// so that holding it costs no dependency.
template <class Function>
Function* loaded_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

NestedPools& NestedPools::process() {
  // Never destroyed: loaders in static storage may end after any static object of ours.
  static NestedPools& pools = [&]() -> NestedPools& {
    NestedPools* const made = new NestedPools;
    const MutexLock lock(made->mutex_);
    made->looks_for_openblas_ = true;
    return *made;
  }();
  return pools;
}

void NestedPools::add(const std::string& name, Get get, Set set) {
  const MutexLock lock(mutex_);
  add_locked(name, std::move(get), std::move(set));
}

void NestedPools::add_locked(const std::string& name, Get get, Set set) {
  const bool known = std::any_of(pools_.begin(), pools_.end(),
                                 [&](const Pool& pool) { return pool.name == name; });
  if (known) return;
  pools_.push_back({name, std::move(get), std::move(set)});
  if (holders_ > 0) hold_one(pools_.back());
}

void NestedPools::hold_one(Pool& pool) {
  pool.saved = pool.get();
  pool.set(1);
}

void NestedPools::find_openblas() {
  int (*const get)() = loaded_function<int()>("openblas_get_num_threads");
  void (*const set)(int) = loaded_function<void(int)>("openblas_set_num_threads");
  if (get != nullptr && set != nullptr) add_locked("OpenBLAS", get, set);
}

void NestedPools::hold() {
  const MutexLock lock(mutex_);
  if (holders_ == 0) {
    if (looks_for_openblas_) find_openblas();
    for (Pool& pool : pools_) hold_one(pool);
  }
  ++holders_;
}

void NestedPools::release() {
  const MutexLock lock(mutex_);
  assert(holders_ > 0 && "release() without a hold()");
  if (holders_ == 0 || --holders_ > 0) return;
  for (Pool& pool : pools_) {
    const int saved = std::exchange(pool.saved, 0);
    if (saved != 0 && pool.get() == 1) pool.set(saved);
  }
}

int NestedPools::holders() const {
  const MutexLock lock(mutex_);
  return holders_;
}

std::vector<std::string> NestedPools::held() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const Pool& pool : pools_) {
    if (pool.saved != 0) names.push_back(pool.name);
  }
  return names;
}

void register_nested_pool(const std::string& name, NestedPools::Get get, NestedPools::Set set) {
  NestedPools::process().add(name, std::move(get), std::move(set));
}

OpenMpHold::OpenMpHold() {
  int (*const get)() = loaded_function<int()>("omp_get_max_threads");
  void (*const set)(int) = loaded_function<void(int)>("omp_set_num_threads");
  if (get == nullptr || set == nullptr) return;
  saved_ = get();
  set(1);
}

OpenMpHold::~OpenMpHold() {
  if (saved_ == 0) return;
  if (void (*const set)(int) = loaded_function<void(int)>("omp_set_num_threads")) set(saved_);
}

}  // namespace weir
