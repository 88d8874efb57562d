// The sockets of pages and threads on a machine with several sockets.
#include <numaif.h>
#include <sched.h>

#include <numa.h>

#include "slimgraph/files/generate.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/graph/numa.h"
#include "slimgraph/graph/shared_graph.h"
#include "tests/support/graphs.h"
#include "tests/support/node_processes.h"
#include "tests/support/rdma_devices.h"

namespace slimgraph::test {
namespace {

constexpr std::uintptr_t kPage = 4096;

// The addresses of the pages that `bytes` covers completely, for move_pages.
std::vector<void*> WholePages(Bytes bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
  std::vector<void*> pages;
  for (std::uintptr_t at = (first + kPage - 1) / kPage * kPage; at + kPage <= first + bytes.size();
       at += kPage) {
    pages.push_back(reinterpret_cast<void*>(at));
  }
  return pages;
}

// Checks the NUMA node of each page with both system calls that report it.
void ExpectPagesOn(int node, Bytes bytes) {
  std::vector<void*> pages = WholePages(bytes);
  std::vector<int> found(pages.size(), -1);
  ASSERT_EQ(::move_pages(0, pages.size(), pages.data(), nullptr, found.data(), 0), 0);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    ASSERT_EQ(found[i], node) << "page " << i << " of " << pages.size();
    int again = -1;
    ASSERT_EQ(::get_mempolicy(&again, nullptr, 0, pages[i], MPOL_F_NODE | MPOL_F_ADDR), 0);
    ASSERT_EQ(again, node);
  }
}

TEST(Numa, BindingMemoryAndThreadsToEverySocketWorks) {
  std::vector<std::byte> memory(1 << 20);
  for (std::uint32_t socket = 0; socket < SocketCount(); ++socket) {
    EXPECT_OK(BindMemory(memory, socket));
    EXPECT_OK(RunOnSocket(socket));
    EXPECT_EQ(::numa_node_of_cpu(::sched_getcpu()), SocketCount() > 1 ? int(socket) : 0);
  }
}

class NumaPlacement : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, NumaPlacement, ::testing::Values("shm", "tcp", "verbs"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(NumaPlacement, EveryPartOfAGraphIsOnItsSocket) {
  if (SocketCount() < 2) GTEST_SKIP() << "one socket";
  if (GetParam() == std::string("verbs") && RdmaDevices().empty()) GTEST_SKIP() << "no RDMA device";
  const ScratchFolder folder;
  GenerateOptions options;
  options.scale = 14;
  options.out = folder / "g.slim";
  ASSERT_OK(Generate(options));
  ExpectNodesRun(2, [&](Job& job) {
    ChooseRdmaDevice(job.self());
    auto cluster = Cluster::Start(job, {.transport = GetParam()});
    ASSERT_OK(cluster);
    const auto file = SlimFile::Open(options.out);
    ASSERT_OK(file);
    auto partition = ChunkPartition::Balance(*file, Direction::kOut, 2, SocketCount(), 8);
    ASSERT_OK(partition);
    const auto graph = SharedGraph<ChunkPartition>::Load(**cluster, *file, *partition, GraphNeeds{},
                                                         [](const MemoryPlan&) {});
    ASSERT_OK(graph);
    for (std::uint32_t socket = 0; socket < SocketCount(); ++socket) {
      const ListSpans& lists = (*graph)->own(Direction::kOut, socket);
      ASSERT_GT(WholePages(std::as_bytes(lists.neighbours)).size(), 20u);
      ExpectPagesOn(static_cast<int>(socket), std::as_bytes(lists.offsets));
      ExpectPagesOn(static_cast<int>(socket), std::as_bytes(lists.neighbours));
    }
    EXPECT_OK((*cluster)->Stop());
  });
}

}  // namespace
}  // namespace slimgraph::test
