#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/error.hpp>
#include <weir/loader.hpp>
#include <weir/sources.hpp>

/// Running a pipeline to its end and keeping what it gave.
namespace weir::test {

/// Workers beyond the machine's are allowed, so that every test runs the same everywhere.
inline Options workers(int count) {
  Options options;
  options.workers = count;
  options.oversubscribe = true;
  options.epochs = 1;
  return options;
}

/// The ways to run one pipeline that must not change what it gives.
inline std::vector<Options> every_way(const Options& base) {
  std::vector<Options> ways;
  for (const int count : {1, 2, 8}) {
    Options options = base;
    options.workers = count;
    options.oversubscribe = true;
    options.fuse = count == 1 ? Fuse::all : count == 2 ? Fuse::automatic : Fuse::off;
    ways.push_back(options);
  }
  Options strict = ways.back();
  strict.strict = true;
  strict.fuse = Fuse::all;
  ways.push_back(strict);
  Options on_the_caller = base;
  on_the_caller.run_inline = true;
  ways.push_back(on_the_caller);
  return ways;
}

inline std::string describe(const Options& options) {
  return std::to_string(options.workers.value_or(0)) + " workers, fuse " +
         std::to_string(static_cast<int>(options.fuse)) + (options.strict ? ", strict" : "") +
         (options.run_inline ? ", inline" : "");
}

/// All values of all epochs.
template <class T>
std::vector<T> all_of(const Stream<T>& stream, const Options& options) {
  Loader<T> loader = stream.start(options);
  std::vector<T> values;
  for (std::uint32_t epoch = 0; epoch < options.epochs.value_or(1); ++epoch)
    for (T& value : loader.epoch(epoch)) values.push_back(std::move(value));
  return values;
}

template <class T>
std::vector<std::vector<T>> rows_of(std::vector<Batch<T>> batches) {
  std::vector<std::vector<T>> rows;
  for (Batch<T>& batch : batches) rows.push_back(std::move(batch.storage()));
  return rows;
}

/// The message of the Error that `call` throws; "" when it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline std::vector<std::int64_t> counting(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = begin; i < end; ++i) values.push_back(i);
  return values;
}

}  // namespace weir::test
