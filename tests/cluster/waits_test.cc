// What nodes log about their waits for another node that delays them.
#include "slimgraph/base/waits.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "slimgraph/base/futex.h"
#include "slimgraph/cluster/cluster.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

using ::testing::ContainsRegex;

// A gate in memory that forked processes share. It opens when a node has logged that it waits for
// node 1.
class Gate {
 public:
  Gate()
      : open_(new (::mmap(nullptr, sizeof *open_, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Atomic<std::uint32_t>(0)) {}
  ~Gate() { ::munmap(open_, sizeof *open_); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Called on each node: logs its waits to standard error; a line about node 1 opens the gate.
  void StartLog() {
    ::setenv("SLIMGRAPH_LOG", "debug", 1);
    ASSERT_TRUE(StartWaitLog([this](const std::string& line) {
      std::fputs((line + "\n").c_str(), stderr);
      if (line.find("for node 1 ") == std::string::npos) return;
      *open_ = 1;
      FutexWakeAll(*open_);
    }));
  }
  void Await() const {
    while (*open_ == 0) FutexWait(*open_, 0, 1'000'000'000);
  }

 private:
  Atomic<std::uint32_t>* const open_;
};

TEST(Waits, InAControlExchangeNameTheMissingNode) {
  Gate gate;
  const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [&](Job& job) {
    gate.StartLog();
    if (job.self() == 1) gate.Await();
    ASSERT_TRUE(job.Exchange(""));
  });
  EXPECT_TRUE(end.all_succeeded()) << end.output;
  EXPECT_THAT(end.output, ContainsRegex("node 0 waits [0-9.]+ s for node 1 in control exchange 0"));
}

TEST(Waits, InACollectiveNameTheMissingNode) {
  Gate gate;
  const NodesEnd end = RunNodes(3, OnLoss::kEndJob, [&](Job& job) {
    auto cluster = Cluster::Start(job, {});
    ASSERT_TRUE(cluster);
    gate.StartLog();
    if (job.self() == 1) gate.Await();
    ASSERT_TRUE((*cluster)->all().Barrier());
    ASSERT_TRUE((*cluster)->Stop());
  });
  EXPECT_TRUE(end.all_succeeded()) << end.output;
  EXPECT_THAT(end.output, ContainsRegex("node [02] waits [0-9.]+ s for node 1 to take part in a "));
}

}  // namespace
}  // namespace slimgraph
