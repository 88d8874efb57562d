#include "dkudu/held_cliques.h"

#include <barrier>
#include <optional>

#include "dkudu/graph/held_lists.h"
#include "dkudu/kernel/clique_kernel.h"
#include "dkudu/task_share.h"

namespace slimgraph {
namespace {

const Stage kCliques("cliques");

// The work of one compute node.
class HeldCliques {
 public:
  HeldCliques(MiningJob& job, unsigned size, TaskShare& tasks)
      : graph_(job.graph),
        size_(size),
        tasks_(tasks),
        lists_(job.graph, job.lists.fetch(0)),
        meeting_(job.cluster.threads()) {}

  // On every thread. All meet whenever more lists have come.
  Result<WideCount> Run(std::uint32_t thread, Endpoint& endpoint) {
    CliqueKernel kernel(graph_.vertices(), size_);
    std::optional<RootTask> task;
    bool any_left = true;
    Status done;
    while (true) {
      meeting_.arrive_and_wait();
      if (thread == 0) more_ = lists_.Next();
      meeting_.arrive_and_wait();
      if (!more_) return thread == 0 ? tl::unexpected(more_.error()) : Result<WideCount>(0);
      if (!*more_) break;
      if (done && any_left) {
        const auto left = WorkOnReady(kernel, task, endpoint);
        if (left) any_left = *left;
        if (!left) done = tl::unexpected(left.error());
      }
    }
    SLIM_TRY(done);
    return kernel.count();
  }

 private:
  // Ends with a task whose lists are not there yet, or with false if there is no other.
  Result<bool> WorkOnReady(CliqueKernel& kernel, std::optional<RootTask>& task,
                           Endpoint& endpoint) {
    while (true) {
      if (!task) {
        SLIM_ASSIGN(task, tasks_.Next(endpoint));
        if (!task) return false;
      }
      const VertexId first = task->home + task->first * graph_.nodes();
      if (first < lists_.ready_from()) return true;
      for (VertexId i = 0; i < task->count; ++i) CountAt(kernel, first + i * graph_.nodes());
      task.reset();
    }
  }

  void CountAt(CliqueKernel& kernel, VertexId v) const {
    CliqueRoot root{Up(v), 0, {}};
    if (root.list.size() + 1 < size_) return;
    kernel.Join(root, graph_.vertices(), [this](VertexId w) { return Up(w); });
  }

  // The neighbours above v, where lists have all.
  List Up(VertexId v) const {
    const List list = lists_.Get(v);
    return graph_.part() == ListPart::kUp ? list : Above(list, v);
  }

  const MiningGraph& graph_;
  unsigned size_;
  TaskShare& tasks_;
  HeldLists lists_;
  std::barrier<> meeting_;
  Result<bool> more_ = true;  // changed by thread 0 while the others wait
};

}  // namespace

Result<WideCount> CountHeldCliques(MiningJob& job, unsigned size) {
  SLIM_ASSIGN(const auto tasks, TaskShare::Make(job, false));
  if (!job.cluster.computes()) return WideCount{0};
  HeldCliques cliques(job, size, *tasks);
  std::vector<WideCount> counts(job.cluster.threads());
  SLIM_TRY(RunEngines(job, kCliques, [&](std::uint32_t thread, Endpoint& endpoint) -> Status {
    SLIM_ASSIGN(counts[thread], cliques.Run(thread, endpoint));
    return {};
  }));
  job.stolen_tasks += tasks->stolen();
  WideCount mine = 0;
  for (const WideCount count : counts) mine += count;
  return mine;
}

}  // namespace slimgraph
