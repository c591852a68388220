#include <weir/ranks.hpp>

#include "tests/machine/recorded_machine.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

struct Found {
  Ranks ranks;
  std::vector<std::string> notes;
};

Found local(std::map<std::string, std::string> variables) {
  Found found;
  const MachineView view = testing::recorded_machine("", {}, std::move(variables));
  found.ranks = local_ranks(view.environment, found.notes);
  return found;
}

TEST(Ranks, ComeFromEachLauncher) {
  const std::map<std::string, std::string> launchers = {
      {"LOCAL_RANK", "LOCAL_WORLD_SIZE"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
      {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}};
  for (const auto& [rank, size] : launchers) {
    const Found found = local({{rank, "2"}, {size, "4"}});
    EXPECT_EQ(found.ranks.rank, 2) << rank;
    EXPECT_EQ(found.ranks.size, 4) << rank;
    EXPECT_EQ(found.ranks.source, rank + "/" + size);
    EXPECT_TRUE(found.notes.empty());
  }
}

TEST(Ranks, AreOneWithoutALauncher) {
  const Found found = local({});
  EXPECT_EQ(found.ranks.rank, 0);
  EXPECT_EQ(found.ranks.size, 1);
  EXPECT_EQ(found.ranks.source, "");
}

TEST(Ranks, OfTheInnermostLauncherWin) {
  // torchrun inside a Slurm task.
  const Found found = local({{"SLURM_LOCALID", "0"},
                             {"SLURM_NTASKS_PER_NODE", "1"},
                             {"LOCAL_RANK", "3"},
                             {"LOCAL_WORLD_SIZE", "8"}});
  EXPECT_EQ(found.ranks.rank, 3);
  EXPECT_EQ(found.ranks.size, 8);
}

TEST(Ranks, ThatMakeNoSenseArePassedOverAndSaidSo) {
  for (const auto& [rank, size] : std::vector<std::pair<std::string, std::string>>{
           {"4", "4"}, {"-1", "4"}, {"0", "0"}, {"a", "4"}, {"0", "4(x2)"}, {"0", "99999999999"}}) {
    const Found found = local({{"LOCAL_RANK", rank},
                               {"LOCAL_WORLD_SIZE", size},
                               {"MPI_LOCALRANKID", "1"},
                               {"MPI_LOCALNRANKS", "2"}});
    EXPECT_EQ(found.ranks.source, "MPI_LOCALRANKID/MPI_LOCALNRANKS") << rank << " of " << size;
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find("LOCAL_RANK=" + rank), std::string::npos) << found.notes[0];
  }
}

TEST(Ranks, NeedBothVariables) {
  EXPECT_EQ(local({{"LOCAL_RANK", "1"}}).ranks.size, 1);
  EXPECT_EQ(local({{"LOCAL_RANK", "1"}}).notes.size(), 1u);
  // An allocation without a task of its own: nothing to say.
  EXPECT_EQ(local({{"SLURM_NTASKS_PER_NODE", "4"}}).ranks.size, 1);
  EXPECT_TRUE(local({{"SLURM_NTASKS_PER_NODE", "4"}}).notes.empty());
}

TEST(Ranks, OfTheWorldAreReadFromTheirOwnVariables) {
  const MachineView view = testing::recorded_machine(
      "", {},
      {{"RANK", "9"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "8"}});
  std::vector<std::string> notes;
  const Ranks world = world_ranks(view.environment, notes);
  EXPECT_EQ(world.rank, 9);
  EXPECT_EQ(world.size, 16);
}

}  // namespace
}  // namespace weir
