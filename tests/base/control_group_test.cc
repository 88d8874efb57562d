#include "slimgraph/base/control_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "slimgraph/base/available_memory.h"

namespace slimgraph {
namespace {

TEST(ControlGroups, PathsAreFoundInBothVersions) {
  const std::string one = "5:devices:/d\n4:memory:/jobs/7\n2:cpu,cpuacct:/half\n0::/init\n";
  EXPECT_EQ(ControlGroupPath(one, "memory"), "/jobs/7");
  EXPECT_EQ(ControlGroupPath(one, "cpu"), "/half");
  EXPECT_EQ(ControlGroupPath(one, "pids"), std::nullopt);
  EXPECT_EQ(ControlGroupPath(one, ""), "/init");
  EXPECT_EQ(ControlGroupPath("0::/user.slice/user-1000.slice\n", ""),
            "/user.slice/user-1000.slice");
  EXPECT_EQ(ControlGroupPath("nonsense", ""), std::nullopt);
}

TEST(ControlGroups, LimitsOfAllAncestorsApply) {
  EXPECT_EQ(GroupAndAncestors("/a/b"), (std::vector<std::string>{"/a/b", "/a", ""}));
  EXPECT_EQ(GroupAndAncestors("/"), (std::vector<std::string>{""}));
}

TEST(ControlGroups, LimitsAreReadInBothVersions) {
  EXPECT_EQ(ParseGroupLimit("max\n"), std::nullopt);
  EXPECT_EQ(ParseGroupLimit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(ParseGroupLimit("1073741824\n"), 1073741824U);
  EXPECT_EQ(ParseGroupLimit(""), std::nullopt);
  EXPECT_EQ(ParseGroupProcessors("150000 100000\n"), 1.5);
  EXPECT_EQ(ParseGroupProcessors("16000\n 40000\n"), 0.4);
  EXPECT_EQ(ParseGroupProcessors("max 100000\n"), std::nullopt);
  EXPECT_EQ(ParseGroupProcessors("-1\n 100000\n"), std::nullopt);
  EXPECT_EQ(ParseGroupProcessors("5000 0"), std::nullopt);
}

// Version 2 reports the limit and the use in other files than version 1.
TEST(ControlGroups, MemoryOfAGroupLeavesOutCachedFiles) {
  const std::string folder = ::testing::TempDir() + "group_memory";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/memory.max") << "1000000\n";
  std::ofstream(folder + "/memory.current") << "700000\n";
  std::ofstream(folder + "/memory.stat")
      << "anon 300000\nactive_file 150000\ninactive_file 250000\n";
  std::ofstream(folder + "/cpu.max") << "50000 100000\n";
  const GroupMemory memory = MemoryOfGroup(2, folder);
  EXPECT_EQ(memory.limit_bytes, 1000000u);
  EXPECT_EQ(memory.used_bytes, 700000u);
  EXPECT_EQ(memory.cached_bytes, 400000u);
  EXPECT_EQ(ProcessorsOfGroup(2, folder), 0.5);
  EXPECT_EQ(MemoryOfGroup(1, folder).limit_bytes, std::nullopt);
  EXPECT_EQ(ProcessorsOfGroup(1, folder), std::nullopt);
  std::filesystem::remove_all(folder);
}

TEST(AvailableMemory, AddressesMayBeFewerThanWanted) {
  constexpr std::uint64_t kFew = 1 << 30;
  constexpr std::uint64_t kTooMany = std::uint64_t{1} << 62;
  EXPECT_EQ(AddressesLeft(kFew), kFew);
  EXPECT_LT(AddressesLeft(kTooMany), kTooMany);
  EXPECT_GT(AddressesLeft(kTooMany), kFew);
  EXPECT_EQ(AddressesLeft(0), 0u);
}

TEST(AvailableMemory, IsWhatCheckMemoryAllows) {
  EXPECT_GT(AvailableMemory(), 0u);
  EXPECT_TRUE(CheckMemory(1, "a byte"));
  const Status refused = CheckMemory(std::uint64_t{1} << 60, "this");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code(), 4);
}

}  // namespace
}  // namespace slimgraph
