// The jobs of tests: a node reports only its own failures.
#include "tests/support/node_processes.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace slimgraph {
namespace {

TEST(NodeProcesses, DoNotReportEarlierFailuresOfTheirTest) {
  const auto fail_and_run = [] {
    static_cast<void>(std::freopen("/dev/null", "w", stdout));
    ADD_FAILURE();
    std::exit(RunNodes(2, OnLoss::kEndJob, [](Job&) {}).all_succeeded() ? 0 : 1);
  };
  EXPECT_EXIT(fail_and_run(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace slimgraph
