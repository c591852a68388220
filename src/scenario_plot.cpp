#include "src/scenario_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "src/quantity_text.hpp"

namespace weir::program {
namespace {

using detail::Scenario;
using detail::ScenarioEvent;
using detail::ScenarioStage;
using detail::Score;
using detail::TimelinePoint;

/// Rates are shown over so many stretches: a window alone has too few items to tell.
constexpr int kRatePieces = 100;
constexpr int kColours = 10;  ///< --s0 to --s9 below

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>weir sim</title>
<style>
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #ffffff; --soft: #5f6670;
  --grid: #e3e5e8; --rate: #2457c5; --oracle: #b3471d; --strip: #eceef1;
  --s0: #4269d0; --s1: #efb118; --s2: #e8604c; --s3: #5bb5a0; --s4: #3a9a4b; --s5: #e87ba8;
  --s6: #9a5be8; --s7: #86aae8; --s8: #9c6b4e; --s9: #8b8f97; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --paper: #16181b; --soft: #a2a9b3; --grid: #33373d; --rate: #8fb4ff;
    --oracle: #ff9d76; --strip: #262a2f; } }
body { margin: 2rem auto; max-width: 52rem; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2.5rem 0 0; }
figure { margin: 1rem 0; } figcaption { color: var(--soft); margin-bottom: .25rem; }
figcaption b { color: var(--ink); }
svg { width: 100%; height: auto; display: block; font: 11px system-ui, sans-serif; }
svg text { fill: var(--soft); } .grid { stroke: var(--grid); } .axis { stroke: var(--soft); }
.event { stroke: var(--soft); stroke-dasharray: 2 3; } .strip { fill: var(--strip); }
.rate { fill: none; stroke: var(--rate); stroke-width: 1.6; }
.oracle { fill: none; stroke: var(--oracle); stroke-width: 1.4; stroke-dasharray: 6 3; }
.active { fill: none; stroke: var(--ink); stroke-width: 1.4; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; margin: 0; padding: 0;
  color: var(--soft); font-size: .85rem; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; }
</style>
</head>
<body>
<h1>weir sim</h1>
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

/// Steps of 1, 2 or 5 times a power of ten, about `wanted` of them up to `most`.
double tick_step(double most, int wanted) {
  const double rough = 0.95 * most / wanted;  // a little over is no reason for a wider step
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= rough) return times * power;
  return 10 * power;
}

/// One chart's place on the picture and the values that it spans.
struct Frame {
  double left, right, top, bottom;
  double most_seconds;
  double most;  ///< at the top; 0 at the bottom
  [[nodiscard]] double x(double seconds) const {
    return left + (right - left) * seconds / most_seconds;
  }
  [[nodiscard]] double y(double value) const {
    return bottom - (bottom - top) * std::min(value, most) / most;
  }
};

std::string line(const char* kind, double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1,
      y1, x2, y2);
}

std::string text(double x, double y, const char* anchor, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(words));
}

std::string axes(const Frame& frame, const std::string& unit, bool with_time) {
  std::string drawn;
  const double step = tick_step(frame.most, 4);
  for (double value = 0; value <= frame.most * 1.0001; value += step) {
    drawn += line("grid", frame.left, frame.y(value), frame.right, frame.y(value));
    drawn += text(frame.left - 6, frame.y(value) + 4, "end", fmt::format("{:g}", value));
  }
  drawn += text(frame.left, frame.top - 7, "start", unit);
  drawn += line("axis", frame.left, frame.bottom, frame.right, frame.bottom);
  if (!with_time) return drawn;
  const double seconds = tick_step(frame.most_seconds, 6);
  for (double at = 0; at <= frame.most_seconds * 1.0001; at += seconds) {
    drawn += line("axis", frame.x(at), frame.bottom, frame.x(at), frame.bottom + 4);
    drawn += text(frame.x(at), frame.bottom + 16, "middle", fmt::format("{:g} s", at));
  }
  return drawn;
}

/// One value that holds for a while.
struct Piece {
  double begin;
  double end;
  double value;
};

/// What holds from each point's predecessor up to it; equal neighbours are one piece.
template <class Value>
std::vector<Piece> pieces(const std::vector<TimelinePoint>& points, Value value) {
  std::vector<Piece> made;
  double since = 0;
  for (const TimelinePoint& point : points) {
    const double now = value(point);
    if (!made.empty() && made.back().value == now)
      made.back().end = point.seconds;
    else
      made.push_back({since, point.seconds, now});
    since = point.seconds;
  }
  return made;
}

std::string steps(const Frame& frame, const std::vector<Piece>& held) {
  std::string path;
  for (const Piece& piece : held)
    path += fmt::format("{}{:.1f} {:.1f}H{:.1f}", path.empty() ? "M" : "L", frame.x(piece.begin),
                        frame.y(piece.value), frame.x(piece.end));
  return path;
}

/// The same points in fewer, wider stretches, rates and workers averaged by time.
std::vector<TimelinePoint> widened(const std::vector<TimelinePoint>& points, double least_seconds) {
  std::vector<TimelinePoint> wide;
  TimelinePoint sum;
  double begin = 0;
  double since = 0;
  for (const TimelinePoint& point : points) {
    const double seconds = point.seconds - since;
    since = point.seconds;
    sum.per_second += point.per_second * seconds;
    sum.oracle_per_second += point.oracle_per_second * seconds;
    const double stretch = point.seconds - begin;
    if (stretch < least_seconds && &point != &points.back()) continue;
    TimelinePoint mean = point;
    if (stretch > 0) {
      mean.per_second = sum.per_second / stretch;
      mean.oracle_per_second = sum.oracle_per_second / stretch;
    }
    wide.push_back(std::move(mean));
    begin = point.seconds;
    sum = {};
  }
  return wide;
}

/// The targets as areas one upon the other, the first stage at the bottom.
std::string areas(const Frame& frame, const std::vector<TimelinePoint>& points,
                  const std::vector<ScenarioStage>& stages) {
  std::string drawn;
  const auto below = [](const TimelinePoint& point, std::size_t stage) {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(stage, point.targets.size()); ++i) sum += point.targets[i];
    return sum;
  };
  for (std::size_t i = 0; i < stages.size(); ++i) {
    std::string path =
        steps(frame, pieces(points, [&](const auto& point) { return below(point, i + 1); }));
    // Back along the lower edge, from right to left.
    const std::vector<Piece> lower =
        pieces(points, [&](const auto& point) { return below(point, i); });
    for (std::size_t p = lower.size(); p-- > 0;)
      path += fmt::format("L{:.1f} {:.1f}H{:.1f}", frame.x(lower[p].end), frame.y(lower[p].value),
                          frame.x(lower[p].begin));
    drawn += fmt::format(
        "<path d=\"{}Z\" fill=\"var(--s{})\" fill-opacity=\"0.75\"><title>{}"
        "</title></path>\n",
        path, i % kColours, escaped(stages[i].name));
  }
  return drawn;
}

std::string labels(const Frame& frame, const std::vector<TimelinePoint>& points) {
  constexpr double kLetter = 6;
  std::string drawn;
  double since = 0;
  for (std::size_t first = 0; first < points.size();) {
    std::size_t last = first;
    while (last + 1 < points.size() && points[last + 1].label == points[first].label) ++last;
    const double left = frame.x(since);
    const double right = frame.x(points[last].seconds);
    const std::string& label = points[first].label;
    drawn += fmt::format(
        "<rect class=\"strip\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"><title>{}</title></rect>\n",
        left, frame.top, std::max(right - left - 0.6, 0.4), frame.bottom - frame.top,
        escaped(label));
    if (right - left > kLetter * static_cast<double>(label.size() + 1))
      drawn += text((left + right) / 2, frame.bottom - 4, "middle", label);
    since = points[last].seconds;
    first = last + 1;
  }
  return drawn;
}

std::string events(const Scenario& scenario, const Frame& rate, const Frame& workers) {
  std::string drawn;
  for (const ScenarioEvent& event : scenario.events)
    for (const double at : {event.at_seconds, event.until_seconds})
      if (at < rate.most_seconds)
        drawn += line("event", rate.x(at), rate.top, rate.x(at), workers.bottom);
  return drawn;
}

std::string picture(const TrialCase& one, const Score& score) {
  const std::vector<TimelinePoint>& points = one.trials.front().timeline;
  if (points.empty()) return "<p>no window was seen</p>\n";
  const double end = std::max(points.back().seconds, one.scenario.duration_seconds);
  const std::vector<TimelinePoint> wide = widened(points, end / kRatePieces);
  double most_rate = 1e-9;
  for (const TimelinePoint& point : wide)
    most_rate = std::max({most_rate, point.per_second, point.oracle_per_second});
  double most_workers = one.options.workers;
  for (const TimelinePoint& point : points) {
    double sum = 0;
    for (const double target : point.targets) sum += target;
    most_workers = std::max(most_workers, sum);
  }
  const Frame rate{52, 752, 24, 150, end, most_rate * 1.08};
  const Frame strip{52, 752, 158, 174, end, 1};
  const Frame workers{52, 752, 200, 310, end, most_workers};
  std::string drawn = fmt::format(
      "<svg viewBox=\"0 0 760 334\" role=\"img\" aria-label=\"{}, {}: rate and workers over time\">"
      "\n",
      escaped(score.scenario), escaped(score.policy));
  drawn += axes(rate, "items/s", false) + axes(workers, "workers", true);
  drawn += areas(workers, points, one.scenario.processes.front().stages);
  drawn += labels(strip, points);
  drawn += events(one.scenario, rate, workers);
  const auto path = [&](const char* kind, const Frame& frame, const std::vector<Piece>& held) {
    return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", kind, steps(frame, held));
  };
  drawn += path("oracle", rate,
                pieces(points, [](const auto& point) { return point.oracle_per_second; }));
  drawn += path("rate", rate, pieces(wide, [](const auto& point) { return point.per_second; }));
  drawn += path("active", workers, pieces(points, [](const auto& point) { return point.active; }));
  return drawn + "</svg>\n";
}

std::string key_of(const Scenario& scenario) {
  const auto entry = [](const std::string& colour, const std::string& name) {
    return fmt::format("<li><i style=\"background: var(--{})\"></i>{}</li>\n", colour,
                       escaped(name));
  };
  std::string drawn = "<ul class=\"key\">\n" + entry("rate", "delivered") +
                      entry("oracle", "oracle (dashed)") + entry("ink", "unparked workers");
  const std::vector<ScenarioStage>& stages = scenario.processes.front().stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    drawn += entry(fmt::format("s{}", i % kColours), "target of " + stages[i].name);
  return drawn + "</ul>\n";
}

std::string caption(const Score& score) {
  return fmt::format(
      "<figcaption><b>{}</b>: {:.3f} of the oracle, settled after {:.1f} s, {} moves,"
      " {:.1f} workers unparked{}</figcaption>\n",
      escaped(score.policy), score.median.efficiency, score.median.settle_seconds,
      score.median.moves, score.median.unparked_mean, score.passed() ? "" : "; a bound was missed");
}

}  // namespace

std::string scenario_plot(std::span<const TrialCase> cases, std::span<const Score> scores) {
  std::string page(kHead);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Score& score = scores[i];
    const bool same =
        i > 0 && scores[i - 1].scenario == score.scenario && scores[i - 1].workers == score.workers;
    if (!same)
      page += fmt::format("<h2>{}, {} workers{}</h2>\n{}", escaped(score.scenario), score.workers,
                          score.strict ? ", strict" : "", key_of(cases[i].scenario));
    page += "<figure>\n" + caption(score) + picture(cases[i], score) + "</figure>\n";
  }
  return page +
         "<p>The first repeat of each; the figures in words are medians over the repeats.</p>\n"
         "</body>\n</html>\n";
}

}  // namespace weir::program
