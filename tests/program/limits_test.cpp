// The program under the limits that machines set: masks, ranks, quotas, refused system calls.
#include <weir/machine_view.hpp>

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/photo_folder.hpp"
#include "tests/program/program_run.hpp"

namespace weir::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const std::string& numbers() {
  static const std::string path = temporary_file("limits.yaml", R"(weir: 1
name: limits
seed: 3
variables: {count: 400, cpu: 200us}
pipeline:
  - range: {count: "${count}"}
  - shuffle: {}
  - emulate: {cpu: "${cpu}"}
  - batch: {size: 8}
)");
  return path;
}

/// Runs the program under `limits`, the options of tests/support/confine.cpp.
ProgramEnd run_confined(const Words& limits, const Words& arguments,
                        const std::function<void(int process)>& look = nullptr) {
  Words words = limits;
  words.insert(words.end(), {"--", WEIR_TEST_PROGRAM});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_command(WEIR_TEST_CONFINE, words, look);
}

Words run_words(const Words& more) {
  Words words{"run", numbers(), "--json", "--digest", "--progress", "never"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json run_under(const Words& limits, const Words& more = {}) {
  const ProgramEnd end = run_confined(limits, run_words(more));
  EXPECT_EQ(end.status, 0) << end.err;
  return json::parse(end.out, nullptr, false);
}

json machine_under(const Words& limits, const Words& more = {}) {
  Words words{"machine", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const ProgramEnd end = run_confined(limits, words);
  return json::parse(end.out, nullptr, false);
}

std::string first_cpu() { return std::to_string(thread_affinity().cpus().front()); }

/// Whether `derivation` has a line with each of `parts`.
bool explains(const json& machine, const Words& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return std::any_of(
        machine["derivation"].begin(), machine["derivation"].end(),
        [&](const json& line) { return line.get<std::string>().find(part) != std::string::npos; });
  });
}

TEST(Limits, OneCpuGivesOneWorker) {
  const json run = run_under({"--cpus", first_cpu()});
  EXPECT_EQ(run["budget"]["threads"], 1);
  EXPECT_EQ(run["budget"]["source"], "affinity");
  EXPECT_EQ(run["peak_workers"], 1);
  EXPECT_TRUE(explains(machine_under({"--cpus", first_cpu()}), {"mask: 1 CPU (" + first_cpu()}));
}

TEST(Limits, TwoRanksShareTheCpusAndTakeDifferentCores) {
  const CpuSet mask = thread_affinity();
  if (mask.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const std::string two = std::to_string(mask.cpus()[0]) + "," + std::to_string(mask.cpus()[1]);
  if (mask.size() > 2) GTEST_SKIP() << "a mask of two of more CPUs would be a launcher's";
  std::set<std::string> places;
  for (const std::string rank : {"0", "1"}) {
    const Words limits{"--cpus", two, "--set", "LOCAL_RANK=" + rank, "--set", "LOCAL_WORLD_SIZE=2"};
    const json run = run_under(limits, {"--pin", "core"});
    EXPECT_EQ(run["budget"]["threads"], 1);
    EXPECT_EQ(run["budget"]["source"], "ranks");
    EXPECT_EQ(run["placement"]["pinned"], 1);
    places.insert(run["placement"]["workers"][0].get<std::string>());
    EXPECT_TRUE(explains(machine_under(limits), {"local ranks: " + rank + " of 2"}));
    // What is asked for by hand is each rank's own.
    EXPECT_EQ(run_under(limits, {"--workers", "2"})["budget"]["threads"], 2);
  }
  EXPECT_EQ(places.size(), 2u);
}

TEST(Limits, BelowOneThreadCannotRunHere) {
  const Words limits{"--set", "LOCAL_RANK=4095", "--set", "LOCAL_WORLD_SIZE=4096"};
  const ProgramEnd end = run_confined(limits, run_words({}));
  EXPECT_EQ(end.status, 3);
  EXPECT_THAT(end.err, HasSubstr("local rank 4095 of 4096"));
  EXPECT_EQ(run_confined(limits, {"machine"}).status, 3);
}

TEST(Limits, OnlyOversubscribeGoesAboveAndSaysSo) {
  const Words limits{"--cpus", first_cpu()};
  EXPECT_EQ(run_confined(limits, run_words({"--workers", "2"})).status, 2);
  const json run = run_under(limits, {"--workers", "2", "--oversubscribe"});
  EXPECT_EQ(run["budget"]["source"], "forced");
  EXPECT_EQ(run["budget"]["threads"], 2);
  EXPECT_EQ(run["placement"]["mode"], "none");
}

TEST(Limits, ChangeNoByte) {
  const std::string digest = run_under({})["digest"];
  for (const char* mode : {"none", "cache_domain", "core", "node"}) {
    const json run = run_under({}, {"--pin", mode});
    EXPECT_EQ(run["digest"], digest) << mode;
    EXPECT_EQ(run["placement"]["mode"], mode);
    EXPECT_EQ(run["placement"]["pinned"], run["placement"]["workers"].size());
  }
  EXPECT_EQ(run_under({"--cpus", first_cpu()})["digest"], digest);
}

/// EPERM, ENOSYS, EINVAL and a success that does nothing are told apart; none ends the run.
TEST(Limits, RefusedBindingIsSaidOnceAndChangesNothing) {
  const std::string digest = run_under({})["digest"];
  const std::map<std::string, std::string> answers{
      {"1", "not permitted"}, {"38", "not supported"}, {"22", "outside of what"}};
  for (const auto& [number, words] : answers) {
    const ProgramEnd end = run_confined({"--refuse", "sched_setaffinity=" + number, "--refuse",
                                         "mbind=1", "--refuse", "set_mempolicy=1"},
                                        run_words({"--pin", "core"}));
    ASSERT_EQ(end.status, 0) << end.err;
    const json run = json::parse(end.out);
    EXPECT_EQ(run["digest"], digest);
    EXPECT_EQ(run["placement"]["pinned"], 0);
    EXPECT_THAT(run["placement"]["note"].get<std::string>(), HasSubstr(words));
    EXPECT_THAT(end.err, HasSubstr(words));
    EXPECT_EQ(end.err.find("bound to its place"), end.err.rfind("bound to its place"))
        << "more than once: " << end.err;
  }
  if (thread_affinity().size() < 2) return;
  const ProgramEnd end =
      run_confined({"--refuse", "sched_setaffinity=0"}, run_words({"--pin", "core"}));
  EXPECT_THAT(end.err, HasSubstr("accepted but not done"));
  EXPECT_EQ(json::parse(end.out)["digest"], digest);
}

TEST(Limits, TwoProcessesTakeDifferentFirstCores) {
  if (thread_affinity().size() < 2) GTEST_SKIP() << "needs two CPUs";
  const std::string folder = fresh_path("runtime");
  std::filesystem::create_directory(folder);
  const Words limits{"--set", "XDG_RUNTIME_DIR=" + folder};
  const Words one{"--pin", "core", "--workers", "1"};
  Words endless = one;
  endless.insert(endless.end(), {"--epochs", "1000000", "--seconds", "100"});
  json second;
  const ProgramEnd end = run_confined(limits, run_words(endless), [&](int process) {
    // As soon as the first has entered its place.
    if (second.is_object() || machine_under(limits)["placement"]["taken"] != 1) return;
    second = run_under(limits, one);
    ::kill(process, SIGTERM);
  });
  ASSERT_TRUE(second.is_object()) << end.err;
  EXPECT_NE(second["placement"]["workers"], json::parse(end.out)["placement"]["workers"]);
  EXPECT_EQ(machine_under(limits)["placement"]["taken"], 0) << "both have gone";
}

TEST(Limits, ATunedFilesPlacesAreTakenAsWrittenWhereTheyFit) {
  const CpuSet mask = thread_affinity();
  if (mask.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const std::string first = std::to_string(mask.cpus()[0]);
  const std::string second = std::to_string(mask.cpus()[1]);
  const auto run_with = [&](const std::string& places, const Words& more) {
    const std::string file = temporary_file(
        "limits.tuned.yaml",
        "weir_tuned: 1\nstages: {emulate: {workers: 1}, batch: {workers: 1}}\n" + places);
    Words words = run_words({"--tuned", file, "--workers", "2"});
    words.insert(words.end(), more.begin(), more.end());
    return run_confined({}, words);
  };
  const auto workers_of = [](const ProgramEnd& end) {
    const json run = json::parse(end.out, nullptr, false);
    return run.is_object() && run.contains("placement") ? run["placement"]["workers"]
                                                        : json(end.err);
  };
  const std::string written =
      "placement: {mode: core, workers: [\"" + second + "\", \"" + first + "\"]}\n";
  EXPECT_EQ(workers_of(run_with(written, {})), (json{second, first}));
  EXPECT_EQ(workers_of(run_with(written, {"--pin", "none"})), json::array());
  const ProgramEnd elsewhere =
      run_with("placement: {mode: core, workers: [\"900\", \"901\"]}\n", {});
  EXPECT_THAT(elsewhere.err, HasSubstr("places are planned anew"));
  EXPECT_EQ(workers_of(elsewhere).size(), 2u);
  const ProgramEnd wrong = run_with("placement: {mode: numa, workers: []}\n", {});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("cache_domain"));
}

struct Task {
  std::string name;
  std::uint64_t ticks = 0;
  std::string cpus;
};

/// Every task of `process` as the kernel shows it, added to what was seen before.
void look_at_tasks(int process, std::map<int, Task>& tasks) {
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries)) {
    const int number = std::atoi(entry->d_name);
    std::ifstream stat(folder + "/" + entry->d_name + "/stat");
    std::string line;
    if (number == 0 || !std::getline(stat, line)) continue;
    const std::size_t open = line.find('(');
    const std::size_t close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    std::istringstream rest(line.substr(close + 2));
    std::string word;
    std::uint64_t user = 0;
    std::uint64_t system = 0;
    for (int i = 0; i < 11; ++i) rest >> word;
    rest >> user >> system;
    Task& task = tasks[number];
    task.name = line.substr(open + 1, close - open - 1);
    task.ticks = std::max(task.ticks, user + system);
    std::ifstream status(folder + "/" + entry->d_name + "/status");
    while (std::getline(status, line))
      if (line.starts_with("Cpus_allowed_list:")) task.cpus = line.substr(line.find('\t') + 1);
  }
  ::closedir(entries);
}

/// Whoever uses CPU time and is neither the consumer nor the control thread is data plane, whoever
/// made it: a decoder with a thread pool of its own would show here.
TEST(Limits, HoldEveryThreadOfTheDataPlaneAlsoThoseOfLibraries) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer has a busy thread of its own";
#endif
  const std::string pictures = temporary_file("pictures.yaml", R"(weir: 1
name: pictures
pipeline:
  - photos: {count: 20, width: 1600, height: 1200}
  - decode: {}
  - random_resized_crop: {size: 896, scale: [0.5, 1.0]}
  - normalize: {mean: [0.5, 0.5, 0.5], std: [0.2, 0.2, 0.2]}
  - batch: {size: 4}
)");
  for (const char* workers : {"1", "auto"}) {
    std::map<int, Task> tasks;
    int leader = 0;
    const ProgramEnd end = run_confined(
        {}, {"run", pictures, "--json", "--quiet", "--workers", workers, "--pin", "core"},
        [&](int process) {
          leader = process;
          look_at_tasks(process, tasks);
        });
    ASSERT_EQ(end.status, 0) << end.err;
    const json run = json::parse(end.out);
    int data_plane = 0;
    std::map<std::string, std::string> place;
    for (const auto& [number, task] : tasks) {
      if (number == leader || task.ticks < 2 || task.name == "weir-control") continue;
      EXPECT_TRUE(task.name.starts_with("weir-worker-")) << task.name << ", " << task.ticks;
      ++data_plane;
      place[task.name] = task.cpus;
    }
    EXPECT_LE(data_plane, run["budget"]["threads"]);
    EXPECT_GE(data_plane, 1) << "nothing was seen";
    // And each is where the plan says, by the kernel's word.
    for (std::size_t worker = 0; worker < run["placement"]["workers"].size(); ++worker) {
      const auto found = place.find("weir-worker-" + std::to_string(worker));
      if (found == place.end()) continue;
      EXPECT_EQ(found->second, run["placement"]["workers"][worker]);
    }
  }
}

/// A control group of its own with a quota of 1.5 CPUs, gone with the object.
class QuotaGroup {
 public:
  QuotaGroup() {
    if (::geteuid() != 0) {
      reason_ = "making a control group needs root";
      return;
    }
    for (const char* root :
         {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"}) {
      const std::string folder = std::string(root) + "/weir-test-" + std::to_string(::getpid());
      std::error_code error;
      if (!std::filesystem::create_directory(folder, error)) continue;
      if (write(folder + "/cpu.max", "150000 100000") ||
          (write(folder + "/cpu.cfs_period_us", "100000") &&
           write(folder + "/cpu.cfs_quota_us", "150000"))) {
        folder_ = folder;
        return;
      }
      std::filesystem::remove(folder, error);
    }
    reason_ = "no control group with a cpu controller can be made here";
  }
  ~QuotaGroup() {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove(folder_, error);
  }
  QuotaGroup(const QuotaGroup&) = delete;
  QuotaGroup& operator=(const QuotaGroup&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] std::uint64_t counter(const std::string& name) const {
    std::ifstream file(folder_ + "/cpu.stat");
    std::string key;
    std::uint64_t value = 0;
    while (file >> key >> value)
      if (key == name) return value;
    return 0;
  }

 private:
  static bool write(const std::string& path, const std::string& text) {
    if (!std::filesystem::exists(path)) return false;
    std::ofstream file(path);
    file << text << std::flush;
    return static_cast<bool>(file);
  }
  std::string folder_;
  std::string reason_;
};

TEST(Limits, AQuotaOfOneAndAHalfCpusGivesOneWorkerThatIsNotThrottled) {
  if (thread_affinity().size() < 2) GTEST_SKIP() << "needs two CPUs";
  const QuotaGroup group;
  if (group.folder().empty()) GTEST_SKIP() << group.reason();
  const Words limits{"--cgroup", group.folder()};
  const json machine = machine_under(limits);
  EXPECT_EQ(machine["quota"], 1.5);
  EXPECT_TRUE(explains(machine, {"quota: 1.5 CPUs", group.folder()}));
  // Not counted: the start, in which libraries are loaded.
  EXPECT_EQ(run_under(limits)["budget"]["threads"], 1);
  const std::uint64_t periods = group.counter("nr_periods");
  const std::uint64_t throttled = group.counter("nr_throttled");
  const json run = run_under(limits, {"--set", "count=4000"});
  EXPECT_EQ(run["budget"]["threads"], 1);
  EXPECT_EQ(run["budget"]["source"], "quota");
  EXPECT_EQ(run["peak_workers"], 1);
  const std::uint64_t seen = group.counter("nr_periods") - periods;
  EXPECT_GT(seen, 5u);
  EXPECT_LE(group.counter("nr_throttled") - throttled, std::max<std::uint64_t>(1, seen / 100));
}

}  // namespace
}  // namespace weir::test
