// Community detection by label propagation: LDBC Graphalytics' synchronous form of the algorithm of
// Raghavan, Albert and Kumara 2007.
#include <utility>
#include <vector>

#include "dgemini/internal/label_counts.h"
#include "dgemini/internal/leaving.h"
#include "dgemini/programs.h"

namespace slimgraph::dgemini {
namespace {

// `Advance` pulls when many labels have changed: every vertex counts its neighbours' labels.
// Otherwise it pushes, which only finds the vertices that have a changed neighbour. These then
// count, by `Collect`.
struct LabelStep {
  using Value = VertexId;
  static constexpr std::uint64_t kPullAbove = 12;

  VertexArray<VertexId>& label;
  VertexArray<VertexId> next;
  std::vector<LabelCounts> counts;  // by thread
  bool all_differ = true;

  template <typename Activate>
  void Push(VertexId, const Neighbours& out, Activate activate) {
    for (const VertexId v : out.ids) activate(v);
  }
  VertexId Partial(VertexId) const { return 0; }
  bool Slot(VertexId, VertexId) const { return true; }

  std::true_type Wants(VertexId) const { return {}; }
  bool Pull(std::uint32_t thread, VertexId v, const Neighbours& list) {
    if (list.ids.empty()) return false;
    next[v] = all_differ ? LabelCounts::MostFrequentAtFirst(label, list)
                         : counts[thread].MostFrequent(label, list);
    return next[v] != label[v];
  }
  VertexId Signal(VertexId v) const { return label[v]; }
  void Mirror(VertexId v, VertexId value) { label[v] = value; }
};

}  // namespace

WorkloadNeeds LabelsNeeds(Mode mode) {
  return {.pull_in = mode != Mode::kPush,
          .pull_out = true,
          .vertex_bytes = 4.25,
          .share_bytes = 12,
          .list_bytes = LabelCounts::kArcBytes};
}

Result<Labels> PropagateLabels(Engine& engine, const OriginalIds& ids, std::uint64_t iterations) {
  VertexArray<VertexId> label(engine.vertices());
  LabelStep step{label, engine.ShareValues<VertexId>(), {}};
  for (std::uint32_t t = 0; t < engine.threads(); ++t) step.counts.emplace_back(engine.longest());
  Frontier changed(engine.vertices());
  Frontier following(engine.vertices());
  std::uint64_t done = 0;
  SLIM_ASSIGN(const bool resumed, Resume(engine, label, changed, step.all_differ, done));
  if (!resumed) {
    engine.ForAll([&](VertexId i) { label[ids.InOrder(i)] = i; });
    // All nodes know the first labels, so a pull need not send any: its frontier is empty.
    if (engine.mode() == Mode::kPush) engine.ActivateAll(changed);
    changed.SetActive({engine.vertices(), engine.arcs()});
  }
  engine.ForEach([&](VertexId v) { step.next[v] = label[v]; });
  for (; done < iterations && !changed.empty(); ++done) {
    SLIM_ASSIGN(const bool left, Leave(engine, label, changed, step.all_differ, done));
    if (left) break;
    if (engine.PicksPull(changed, step)) {
      SLIM_TRY(engine.Advance(changed, step, following));
      engine.ForEach([&](VertexId v) { label[v] = step.next[v]; });
    } else {
      SLIM_TRY(engine.Advance(changed, step, following));
      SLIM_TRY(engine.Collect(changed, following.list(), step));
      VertexLists listed = following.TakeList();
      engine.ForEachPart(listed, [&](std::uint32_t, VertexList& part) {
        part.Filter([&](VertexId v, VertexId) {
          return std::exchange(label[v], step.next[v]) != step.next[v];
        });
      });
      SLIM_TRY(engine.SetActive(following, std::move(listed)));
    }
    step.all_differ = false;
    std::swap(changed, following);
    engine.job().SetProgress(done + 1, iterations);
  }
  return Labels{std::move(label), done};
}

}  // namespace slimgraph::dgemini
