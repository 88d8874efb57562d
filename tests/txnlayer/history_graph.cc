#include "tests/txnlayer/history_graph.h"

#include <cstring>

#include "slimgraph/files/slim_file.h"
#include "tests/support/unwrap.h"

namespace slimgraph::test {

HistoryGraph::HistoryGraph(const std::string& base_file, const txn::GraphShape& shape,
                           std::vector<std::uint64_t> words)
    : shape_(shape), words_(std::move(words)) {
  for (std::span<const std::uint64_t> rest = words_; !rest.empty();
       rest = rest.subspan(2 + rest[1])) {
    history_.emplace(rest[0], rest.subspan(2, rest[1]));
  }
  next_ = history_.begin();
  const SlimFile file = Unwrap(SlimFile::Open(base_file));
  const OriginalIds ids = Unwrap(file.ReadOriginalIds());
  const Csr lists = Unwrap(ReadCsr(file));
  for (VertexId v = 0; v < lists.vertices(); ++v) {
    auto& mine = graph_[ids[v]];
    for (std::size_t i = 0; i < lists.degree(v); ++i) {
      mine[ids[lists.list(v)[i]]] = lists.weights.empty() ? 0 : lists.list_weights(v)[i];
    }
  }
}

void HistoryGraph::Apply(const txn::Update& update) {
  std::int32_t weight = 0;
  switch (update.kind) {
    case txn::UpdateKind::kAddEdge:
      if (shape_.weight_bytes() > 0) {
        std::memcpy(&weight, update.properties.data(), sizeof weight);
      }
      graph_.at(update.one)[update.other] = weight;
      if (!shape_.directed) graph_.at(update.other)[update.one] = weight;
      break;
    case txn::UpdateKind::kDeleteEdge:
      graph_.at(update.one).erase(update.other);
      if (!shape_.directed) graph_.at(update.other).erase(update.one);
      break;
    case txn::UpdateKind::kAddVertex:
      graph_[update.one];
      break;
    case txn::UpdateKind::kDeleteVertex:
      for (auto& [name, neighbours] : graph_) neighbours.erase(update.one);
      graph_.erase(update.one);
  }
}

HistoryGraph::Numbered HistoryGraph::At(txn::GraphTime time) {
  for (; next_ != history_.end() && next_->first <= time; ++next_, ++applied_) {
    std::span<const std::uint64_t> updates = next_->second;
    txn::Update update;
    while (txn::TakeUpdate(shape_, updates, update)) Apply(update);
  }
  Numbered numbered;
  std::map<txn::VertexName, VertexId> number;
  for (const auto& [name, mine] : graph_) {
    number[name] = static_cast<VertexId>(numbered.names.size());
    numbered.names.push_back(name);
  }
  for (const auto& [name, mine] : graph_) {
    for (const auto& [other, weight] : mine) {
      numbered.lists.neighbours.push_back(number.at(other));
      if (shape_.weight_bytes() > 0) numbered.lists.weights.push_back(weight);
    }
    numbered.lists.offsets.push_back(numbered.lists.neighbours.size());
  }
  return numbered;
}

}  // namespace slimgraph::test
