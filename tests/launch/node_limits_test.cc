// Which group becomes the parent of limited nodes' groups, on file trees that imitate control
// groups v2.
#include "slimgraph/launch/node_limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

const std::vector<std::string> kBoth = {"cpu", "memory"};

// As on Debian 12 with a user's shell in a session:
//
//   top ── user.slice ── user-0.slice ── session-1.scope
//   (1, 2)                                (the shell)
class ControlGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    MakeGroup(top_, "cpuset cpu io memory pids", "1\n2\n");
    std::filesystem::remove(top_ + "/cgroup.type");
    MakeGroup(top_ + "/user.slice", "cpu memory pids", "");
    MakeGroup(slice_, "cpu memory pids", "");
    MakeGroup(session_, "memory pids", "4711\n");
  }

  static void MakeGroup(const std::string& path, const char* controllers, const char* processes) {
    std::filesystem::create_directories(path);
    std::ofstream(path + "/cgroup.type") << "domain\n";
    std::ofstream(path + "/cgroup.controllers") << controllers << "\n";
    SetProcesses(path, processes);
  }
  static void SetProcesses(const std::string& path, const char* processes) {
    std::ofstream(path + "/cgroup.procs") << processes;
  }
  std::string Parent(const std::vector<std::string>& controllers) const {
    const auto parent = ParentOfLimitedGroups(top_, session_, controllers);
    return parent ? *parent : parent.error().message;
  }

  ScratchDirectory scratch_;
  std::string top_ = scratch_.File("top");
  std::string slice_ = top_ + "/user.slice/user-0.slice";
  std::string session_ = slice_ + "/session-1.scope";
};

TEST_F(ControlGroups, TheParentIsTheNearestGroupWithoutProcesses) {
  EXPECT_EQ(Parent(kBoth), slice_);
  EXPECT_EQ(Parent({"memory"}), slice_);
  SetProcesses(slice_, "99\n");
  EXPECT_EQ(Parent(kBoth), top_ + "/user.slice");
}

TEST_F(ControlGroups, TheRootMayBeTheParentDespiteItsProcesses) {
  EXPECT_EQ(Parent({"cpu", "io"}), top_);
}

TEST_F(ControlGroups, ARootOfAContainerIsNotExempt) {
  std::ofstream(top_ + "/cgroup.type") << "domain\n";
  const std::string refusal = Parent({"io"});
  EXPECT_NE(refusal.find(top_ + " has processes of its own"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find(session_ + " is not given the controller io"), std::string::npos)
      << refusal;
}

}  // namespace
}  // namespace slimgraph
