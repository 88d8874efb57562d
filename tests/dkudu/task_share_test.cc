#include "dkudu/internal/task_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/dkudu/support.h"

namespace slimgraph::test {
namespace {

// Claims all tasks that this node can get. Returns a number for each root or slice of them: root,
// slices and slice, combined.
std::vector<std::uint64_t> TakeAll(dkudu::TaskShare& share, dkudu::MiningJob& job) {
  std::vector<std::uint64_t> taken;
  Endpoint& endpoint = job.cluster.fabric().endpoint(0);
  while (true) {
    const auto task = share.ClaimTask(endpoint);
    EXPECT_TRUE(task) << task.error().message;
    if (!task || !*task) return taken;
    for (VertexId i = 0; i < (*task)->count; ++i) {
      const std::uint64_t root = (*task)->home + ((*task)->first + i) * job.graph.nodes();
      taken.push_back((root * 10'000 + (*task)->slices) * 10'000 + (*task)->slice);
    }
  }
}

// Node 0 finishes before the others start.
std::vector<std::uint64_t> TakenByAll(dkudu::TaskShare& share, dkudu::MiningJob& job) {
  std::vector<std::uint64_t> mine;
  if (job.cluster.self() == 0) mine = TakeAll(share, job);
  EXPECT_TRUE(job.cluster.all().Barrier());
  if (job.cluster.self() != 0 && job.cluster.computes()) mine = TakeAll(share, job);
  const auto all = job.cluster.all().AllGather(std::as_bytes(std::span(mine)));
  EXPECT_TRUE(all);
  std::vector<std::uint64_t> taken;
  for (const auto& bytes : *all) {
    const auto* const numbers = reinterpret_cast<const std::uint64_t*>(bytes.data());
    taken.insert(taken.end(), numbers, numbers + bytes.size() / sizeof *numbers);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

EdgeList StarsAndPaths() {
  EdgeList graph = EmptyGraph(9000);
  for (VertexId v = 1; v < graph.vertices; ++v) graph.edges.push_back({0, v});
  for (VertexId v = 2; v < graph.vertices; ++v) graph.edges.push_back({v - 1, v});
  return graph;
}

TEST(TaskShare, EveryRootIsClaimedOnce) {
  const EdgeList graph = StarsAndPaths();
  const ScratchGraph file(graph);
  for (const Shape& shape : {Shape{1, 1}, Shape{4, 4}, Shape{4, 3}, Shape{5, 2}, Shape{3, 1}}) {
    for (const dkudu::Steal steal : {dkudu::Steal::kOn, dkudu::Steal::kOff}) {
      dkudu::MiningOptions options;
      options.steal = steal;
      OnMiningJob(shape, file.path(), dkudu::ListPart::kAll, options, [&](dkudu::MiningJob& job) {
        for (const bool may_slice : {false, true}) {
          auto share = dkudu::TaskShare::Make(job, may_slice);
          ASSERT_TRUE(share);
          const auto taken = TakenByAll(**share, job);
          EXPECT_EQ(std::adjacent_find(taken.begin(), taken.end()), taken.end());
          const std::uint64_t hub_slices = taken.size() - (graph.vertices - 1);
          const std::uint64_t last_root = (graph.vertices - 1) * 10'000;  // the hub ranks highest
          EXPECT_EQ(taken.back(), (last_root + hub_slices) * 10'000 + hub_slices - 1)
              << NameOf(shape);
          EXPECT_EQ(hub_slices > 1, may_slice) << NameOf(shape);
          const bool stole =
              job.cluster.self() == 0 && shape.compute > 1 && steal == dkudu::Steal::kOn;
          EXPECT_EQ((*share)->stolen() > 0, stole) << NameOf(shape);
        }
      });
    }
  }
}

TEST(TaskShare, TasksAreBalancedWithoutStealing) {
  const ScratchGraph file(StarsAndPaths());
  for (const Shape& shape :
       {Shape{4, 4}, Shape{4, 3}, Shape{5, 2}, Shape{5, 3}, Shape{5, 3, 1, "shm", true}}) {
    OnMiningJob(shape, file.path(), dkudu::ListPart::kAll, {}, [&](dkudu::MiningJob& job) {
      std::uint64_t least = ~std::uint64_t{0};
      std::uint64_t most = 0;
      for (NodeId worker = 0; worker < shape.compute; ++worker) {
        std::uint64_t neighbours = 0;
        for (const dkudu::RootTask& task : dkudu::RootTasksOf(job.graph, worker, true)) {
          neighbours += task.neighbours;
        }
        least = std::min(least, neighbours);
        most = std::max(most, neighbours);
      }
      EXPECT_LT(most - least, 2500U) << NameOf(shape);  // the size of a slice and a task
    });
  }
}

}  // namespace
}  // namespace slimgraph::test
