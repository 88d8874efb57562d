#include "dkudu/internal/clique_leaving.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace slimgraph::dkudu {
namespace {

CliquesLeft Read(const CliqueRest::Words& words, std::size_t& at) {
  const auto next = [&] { return static_cast<VertexId>(words[at++]); };
  CliquesLeft left;
  for (VertexId* const to : {&left.first, &left.end, &left.middle, &left.from, &left.to}) {
    *to = next();
  }
  left.done.resize(words[at++]);
  for (VertexId& root : left.done) root = next();
  return left;
}

}  // namespace

CliqueRest::Words CliqueRest::ToWords(const CliquesLeft& left) {
  Words words{left.first, left.end, left.middle, left.from, left.to, left.done.size()};
  words.insert(words.end(), left.done.begin(), left.done.end());
  return words;
}

// How many stops there were, and for each stop how many compute nodes, and their words.
CliqueRest::Words CliqueRest::ToWords() const {
  Words words{phases_.size()};
  for (const auto& phase : phases_) {
    words.push_back(phase.size());
    for (const CliquesLeft& left : phase) {
      const Words of_node = ToWords(left);
      words.insert(words.end(), of_node.begin(), of_node.end());
    }
  }
  return words;
}

CliqueRest::CliqueRest(const Words& words) {
  if (words.empty()) return;
  std::size_t at = 1;
  phases_.resize(words[0]);
  for (auto& phase : phases_) {
    phase.resize(words[at++]);
    for (CliquesLeft& left : phase) left = Read(words, at);
  }
}

void CliqueRest::Add(const std::vector<Words>& nodes) {
  std::vector<CliquesLeft>& phase = phases_.emplace_back();
  for (const Words& words : nodes) {
    std::size_t at = 0;
    phase.push_back(Read(words, at));
  }
}

std::size_t CliqueRest::Joined(const MiningGraph& graph, VertexId root, List list) const {
  VertexId below = 0;
  for (const auto& phase : phases_) {
    const auto compute = static_cast<NodeId>(phase.size());
    const CliquesLeft& left = phase[graph.worker(root, compute)];
    if (root >= left.end || std::binary_search(left.done.begin(), left.done.end(), root)) {
      return list.size();
    }
    if (root >= left.first) below = std::max(below, root < left.middle ? left.to : left.from);
  }
  return static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), below) - list.begin());
}

Result<CliqueLeaving> CliqueLeaving::Make(MiningJob& job) {
  CliqueLeaving made;
  if (job.continuation == nullptr) return made;
  made.continuation_ = job.continuation;
  made.rest_ = CliqueRest(job.continuation->rest());
  made.self_ = job.cluster.self();
  made.compute_ = job.cluster.topology().compute();
  SLIM_ASSIGN(made.begun_, job.regions.Take(job.cluster, sizeof(std::uint64_t)));
  return made;
}

Status CliqueLeaving::Ask(Endpoint& endpoint, double percent) const {
  if (!continuation_->AsksToStop(percent)) return {};
  const std::uint64_t word = continuation_->leaves() ? kAtOnce : kSoon;
  std::vector<std::uint64_t> before(compute_);
  for (NodeId node = 0; node < compute_; ++node) {
    endpoint.FetchAdd(node, begun_.id(), 0, word, &before[node]);
  }
  const Outcome outcome = endpoint.Flush();
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot stop the other compute nodes: {}", OutcomeName(outcome));
}

std::uint64_t CliqueLeaving::word() const {
  if (continuation_ == nullptr) return 0;
  auto& word = *reinterpret_cast<std::uint64_t*>(begun_.memory().data());
  return std::atomic_ref(word).load(std::memory_order_relaxed);
}

Result<Continuation::Words> CliqueLeaving::Rest(Cluster& cluster, const CliquesLeft& left) {
  const CliqueRest::Words mine = CliqueRest::ToWords(left);
  SLIM_ASSIGN(const auto all, cluster.all().AllGather(std::as_bytes(std::span(mine))));
  std::vector<CliqueRest::Words> nodes(compute_);
  for (NodeId node = 0; node < compute_; ++node) {
    nodes[node].resize(all[node].size() / sizeof(std::uint64_t));
    std::memcpy(nodes[node].data(), all[node].data(), all[node].size());
  }
  rest_.Add(nodes);
  return rest_.ToWords();
}

}  // namespace slimgraph::dkudu
