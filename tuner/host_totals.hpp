#pragma once

#include <map>
#include <string>

#include <weir/export.hpp>
#include <weir/host_figures.hpp>
#include <weir/observation.hpp>

namespace weir::detail {

/// What was seen of the host, window by window, put together.
///
/// Thread safety: a value.
class WEIR_EXPORT HostTotals {
 public:
  void add(const Observation& window);
  [[nodiscard]] HostFigures figures() const;

 private:
  WorkTime work_;
  double seconds_ = 0;  // of all windows
  std::map<std::string, double> contended_seconds_;

  struct Stage {
    double running_seconds = 0;
    double blocked_seconds = 0;
    std::map<std::string, int> hints;  // windows
  };
  std::map<std::string, Stage> stages_;
  int windows_ = 0;

  // Integrals over the windows in which the host said something.
  double host_seconds_ = 0;
  double throttled_ = 0;
  double others_ = 0;
  double idle_ = 0;
  double pressure_ = 0;
};

/// Of one window.
[[nodiscard]] WEIR_EXPORT HostFigures host_figures(const Observation& window);

}  // namespace weir::detail
