#include "dkudu/graph/held_lists.h"

#include "dkudu/graph/list_stream.h"

namespace slimgraph {
namespace {

// Of lists that come together: little enough for work to start soon.
constexpr std::uint64_t kWindowEntries = (1 << 20) / sizeof(VertexId);

}  // namespace

HeldLists::HeldLists(const MiningGraph& graph, ListFetch& fetch)
    : graph_(graph),
      fetch_(fetch),
      lists_(graph.nodes()),
      ready_from_(graph.vertices()),
      asked_from_(graph.vertices()) {
  for (NodeId home = 0; home < graph.nodes(); ++home) {
    if (home == graph.self()) continue;
    lists_[home] = std::make_unique_for_overwrite<VertexId[]>(graph.displacements().total(home));
  }
}

std::uint64_t HeldLists::Bytes(const MiningGraph& graph, NodeId node) {
  const Displacements& displacements = graph.displacements();
  return (displacements.total() - displacements.total(node)) * sizeof(VertexId);
}

VertexId HeldLists::FirstOfWindow(VertexId end) const {
  VertexId first = end;
  for (std::uint64_t entries = 0; first > 0 && entries < kWindowEntries;) {
    --first;
    if (!graph_.is_own(first)) entries += graph_.displacements().size(first);
  }
  return first;
}

void HeldLists::AskBelow(VertexId end) {
  asked_from_ = FirstOfWindow(end);
  for (NodeId home = 0; home < graph_.nodes(); ++home) {
    if (home == graph_.self()) continue;
    const auto [begin, stop] = ListsOf(graph_, home, {asked_from_, end});
    if (begin == stop) continue;
    fetch_.Ask(home, begin, std::span(lists_[home].get() + begin, stop - begin));
  }
  asked_ = fetch_.Start();
}

Result<bool> HeldLists::Next() {
  if (ready_from_ == 0) return false;
  if (asked_from_ == ready_from_) AskBelow(ready_from_);
  SLIM_TRY(fetch_.Finish(asked_));
  ready_from_ = asked_from_;
  if (ready_from_ > 0) AskBelow(ready_from_);
  return true;
}

}  // namespace slimgraph
