#pragma once

#include <stdexcept>
#include <string>

#include <weir/export.hpp>

namespace weir {

/// What kind of thing went wrong, and therefore what the caller does next. The values are the exit
/// statuses of the program `weir`.
enum class ErrorKind {
  data = 1,    ///< The data or a stage failed: look at the named sample.
  usage = 2,   ///< Wrong usage, configuration or file: correct the named place.
  cannot = 3,  ///< Not possible on this machine: the message says what is missing.
};

/// The one exception type of set-up and control, and the form in which the data path hands the
/// first failure to the consumer.
///
/// The message is complete: it names the place (stage; file, line and key; system call and path),
/// the value, what is allowed and the next step. `where()` repeats the place alone.
///
/// Thread safety: a value; distinct objects are independent.
class WEIR_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string where, const std::string& what_happened);
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  /// The stage's name or `file:line:column`; empty where there is no place.
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

 private:
  ErrorKind kind_;
  std::string where_;
};

/// Thrown by a stage for one sample that cannot be used. It is the only exception of a user
/// function that `on_bad_sample` of the whole run applies to; any other fails the run unless the
/// stage has a policy of its own.
///
/// The message is the reason alone ("damaged: premature end of JPEG data"); path, sample id and
/// stage are added by the runtime.
class WEIR_EXPORT BadSample : public std::runtime_error {
 public:
  explicit BadSample(const std::string& reason);
  BadSample(const BadSample&) = default;
  BadSample& operator=(const BadSample&) = default;
  ~BadSample() override;
};

}  // namespace weir
