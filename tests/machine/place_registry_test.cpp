#include "machine/place_registry.hpp"

#include "machine/placement.hpp"
#include "tests/machine/recorded_machine.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir {
namespace {

using testing::ScratchMachine;
using Cpus = std::vector<int>;

/// What a process finds taken that enters `own` into `folder`.
Cpus settle(PlaceRegistry& registry, Cpus own) {
  Cpus found;
  EXPECT_TRUE(registry.settle([&](const Cpus& taken) {
    found = taken;
    return own;
  }));
  return found;
}

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.path().filename() != "lock" ? 1 : 0;
  return count;
}

TEST(PlaceRegistry, TellsEachWhatTheOthersHave) {
  const ScratchMachine scratch;
  PlaceRegistry first(scratch.root());
  EXPECT_EQ(settle(first, {0, 1}), Cpus{});
  {
    PlaceRegistry second(scratch.root());
    EXPECT_EQ(settle(second, {2, 2, 3}), (Cpus{0, 1}));
    // Entering again replaces what was there, and nobody counts himself.
    EXPECT_EQ(settle(first, {5}), (Cpus{2, 2, 3}));
    EXPECT_EQ(settle(second, {6}), Cpus{5});
  }
  EXPECT_EQ(settle(first, {5}), Cpus{}) << "the second has gone";
  EXPECT_EQ(files_in(scratch.root()), 1u);
}

TEST(PlaceRegistry, RemovesWhatADeadProcessLeft) {
  const ScratchMachine scratch;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static PlaceRegistry* const kLeft = new PlaceRegistry(scratch.root());
    const bool entered = kLeft->settle([](const Cpus&) { return Cpus{0, 1, 2, 3}; });
    ::_exit(entered ? 0 : 1);  // without a destructor, as a killed process ends
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(files_in(scratch.root()), 1u);
  PlaceRegistry registry(scratch.root());
  EXPECT_EQ(settle(registry, {0}), Cpus{});
  EXPECT_EQ(files_in(scratch.root()), 1u) << "only the own one";
}

TEST(PlaceRegistry, PassesOverGarbage) {
  const ScratchMachine scratch;
  PlaceRegistry other(scratch.root());
  EXPECT_EQ(settle(other, {1}), Cpus{});
  for (const auto& entry : std::filesystem::directory_iterator(scratch.root()))
    if (entry.path().filename() != "lock")
      std::ofstream(entry.path()) << "3 x -1 99999999999999999999 4.5 7\n";
  std::filesystem::create_directory(scratch.root() + "/places-folder");
  std::filesystem::create_symlink("/dev/zero", scratch.root() + "/places-link");
  PlaceRegistry registry(scratch.root());
  EXPECT_EQ(settle(registry, {}), (Cpus{3, 7}));
}

TEST(PlaceRegistry, CannotBeUsedWithoutAFolder) {
  bool asked = false;
  const auto plan = [&](const Cpus&) {
    asked = true;
    return Cpus{};
  };
  EXPECT_FALSE(PlaceRegistry("").settle(plan));
  EXPECT_FALSE(PlaceRegistry("/no/such/folder").settle(plan));
  EXPECT_FALSE(asked);
}

TEST(PlaceRegistry, FolderIsTheUsersOwn) {
  const ScratchMachine scratch;
  MachineView view;
  view.environment = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "XDG_RUNTIME_DIR") return scratch.root();
    return std::nullopt;
  };
  const std::string own = scratch.root() + "/weir";
  EXPECT_EQ(runtime_folder(view), own);
  EXPECT_EQ(runtime_folder(view), own) << "the second time it is there";
  // Whoever else may write into it could tell us anything.
  std::filesystem::permissions(own, std::filesystem::perms::all);
  EXPECT_NE(runtime_folder(view), own);
  std::filesystem::remove(own);
  std::filesystem::create_symlink("/tmp", own);
  EXPECT_NE(runtime_folder(view), own);
}

TEST(PlaceRegistry, TwoProcessesTakeDifferentFirstCores) {
  const ScratchMachine scratch;
  const Topology topology = synthetic_topology("node:2 l3:2 core:4 pu:2");
  std::vector<std::unique_ptr<PlaceRegistry>> processes;
  std::set<int> used;
  for (int process = 0; process < 4; ++process) {
    processes.push_back(std::make_unique<PlaceRegistry>(scratch.root()));
    PlacementRequest request;
    request.workers = 4;
    request.mode = PlacementMode::core;
    ASSERT_TRUE(processes.back()->settle([&](const Cpus& taken) {
      request.taken = taken;
      Cpus homes;
      std::set<int> domains;
      for (const WorkerPlace& place : plan_placement(topology, topology.cpus(), request).places) {
        homes.push_back(place.home);
        used.insert(place.home / 2);
        domains.insert(place.home / 8);
      }
      EXPECT_EQ(domains.size(), 1u) << "one process keeps together";
      return homes;
    }));
  }
  EXPECT_EQ(used.size(), 16u) << "each core once";
}

}  // namespace
}  // namespace weir
