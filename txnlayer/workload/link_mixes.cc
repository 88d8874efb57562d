// LinkBench (Armstrong et al., SIGMOD 2013), TAO's mix (Bronson et al., USENIX ATC 2013), and a
// churn workload that replaces a tenth of a graph's edges while it is read. Vertices to read, and
// the ends of new edges, are chosen by degree. Vertices to delete are chosen uniformly.
#include <algorithm>
#include <tuple>

#include "txnlayer/workload/internal/graph_workload.h"

namespace slimgraph::txn {
namespace {

enum LinkKind : std::size_t {
  kNeighbours,
  kGetVertex,
  kCount,
  kAddEdge,
  kDeleteEdge,
  kUpdateEdge,
  kUpdateVertex,
  kAddVertex,
  kDeleteVertex,
  kGetEdge,
};
constexpr MixEntry kLinkBench[] = {{"neighbours", 50.71, true}, {"get_vertex", 12.93, true},
                                   {"count", 4.89, true},       {"add_edge", 8.99},
                                   {"delete_edge", 2.99},       {"update_edge", 8.01},
                                   {"update_vertex", 7.37},     {"add_vertex", 2.57},
                                   {"delete_vertex", 1.01},     {"get_edge", 0.53, true}};
// 99.8 % reads.
constexpr double kTaoReads = 0.998;
constexpr double kTaoWrites = 0.002;
constexpr MixEntry kTao[] = {{"neighbours", 59.4 * kTaoReads, true},
                             {"get_vertex", 28.9 * kTaoReads, true},
                             {"count", 11.7 * kTaoReads, true},
                             {"add_edge", 80 * kTaoWrites},
                             {"delete_edge", 20 * kTaoWrites}};

// LinkBench's limit for one query.
constexpr std::uint64_t kMostNeighbours = 10'000;

// Reads every edge of the result, as a real client would.
Answer ReadAll(const NeighbourList& list, Answer answer) {
  if (answer != Answer::kYes) return answer;
  std::uint64_t sum = 0;
  list.ForEach([&](const StoredEdge& edge, const std::byte* properties) {
    sum += edge.neighbour ^ edge.time;
    if (properties != nullptr) sum += std::to_integer<std::uint64_t>(*properties);
  });
  asm volatile("" : : "r"(sum));  // keeps the compiler from removing the loop
  return answer;
}

class LinkClient : public GraphClient {
 public:
  using GraphClient::GraphClient;

 protected:
  void Prepare(std::size_t kind, Chooser& chooser) override {
    switch (kind) {
      case kAddEdge:
        one_ = chooser.ByDegree();
        other_ = chooser.ByDegree();
        properties_ = chooser.EdgeProperties();
        break;
      case kUpdateEdge:
        properties_ = chooser.EdgeProperties();
        [[fallthrough]];
      case kDeleteEdge:
      case kGetEdge:
        std::tie(one_, other_) = chooser.Edge();
        break;
      case kUpdateVertex:
        one_ = chooser.ByDegree();
        properties_ = chooser.Properties(shape().vertex_bytes);
        break;
      case kAddVertex:
        one_ = chooser.Fresh();
        properties_ = chooser.Properties(shape().vertex_bytes);
        break;
      case kDeleteVertex:
        one_ = chooser.Uniform();
        break;
      default:
        one_ = chooser.ByDegree();
    }
    found_.resize(std::max(shape().vertex_bytes, shape().edge_bytes));
  }

  Answer Do(std::size_t kind, GraphTransaction& graph) override {
    StoredEdge edge;
    std::uint64_t degree = 0;
    switch (kind) {
      case kNeighbours:
        return ReadAll(
            list_,
            graph.Neighbours(
                one_, {.newest_first = true, .limit = kMostNeighbours, .properties = true}, list_));
      case kGetVertex:
        return graph.GetVertex(one_, MutableBytes(found_).first(shape().vertex_bytes));
      case kCount:
        return graph.Degree(one_, degree);
      case kAddEdge:
        return graph.AddEdge(one_, other_, properties_);
      case kDeleteEdge:
        return graph.DeleteEdge(one_, other_);
      case kUpdateEdge:
        return graph.SetEdge(one_, other_, properties_);
      case kUpdateVertex:
        return graph.SetVertex(one_, properties_);
      case kAddVertex:
        return graph.AddVertex(one_, properties_);
      case kDeleteVertex:
        return graph.DeleteVertex(one_);
      default:
        return graph.GetEdge(one_, other_, edge, MutableBytes(found_).first(shape().edge_bytes));
    }
  }

 private:
  VertexName one_ = 0;
  VertexName other_ = 0;
  std::vector<std::byte> properties_;
  std::vector<std::byte> found_;
  NeighbourList list_;
};

class LinkWorkload : public GraphWorkload {
 public:
  LinkWorkload(std::string_view name, const WorkloadOptions& options, std::span<const MixEntry> mix)
      : GraphWorkload(options, mix), name_(name) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return Make<LinkClient>(transaction);
  }

 private:
  std::string_view name_;
};

// --- churn

// In a small graph, perhaps no edge is in that tenth.
constexpr std::uint64_t kMostTries = 100;
constexpr MixEntry kChurn[] = {{"replace_edge", 10}, {"neighbours", 90, true}};

// A tenth of the edges, chosen by a hash of their ends, alternate with other edges. A transaction
// deletes one edge and adds the other, which leads to a vertex computed from the same hash.
class ChurnClient : public GraphClient {
 public:
  using GraphClient::GraphClient;

 protected:
  void Prepare(std::size_t kind, Chooser& chooser) override {
    if (kind == 1) {
      one_ = chooser.ByDegree();
      return;
    }
    std::uint64_t hash = 0;
    do {
      std::tie(one_, other_) = chooser.Edge();
      if (!shape().directed && one_ > other_) std::swap(one_, other_);
      hash = Mix(one_ ^ Mix(other_));
    } while (hash % 10 != 0 && ++tries_ % kMostTries != 0);
    instead_ = chooser.Of(hash / 10);
    properties_ = chooser.EdgeProperties();
  }

  Answer Do(std::size_t kind, GraphTransaction& graph) override {
    if (kind == 1) return ReadAll(list_, graph.Neighbours(one_, {}, list_));
    const Answer deleted = graph.DeleteEdge(one_, other_);
    if (deleted == Answer::kAborted) return deleted;
    if (deleted == Answer::kYes) return graph.AddEdge(one_, instead_, properties_);
    if (graph.DeleteEdge(one_, instead_) == Answer::kAborted) return Answer::kAborted;
    return graph.AddEdge(one_, other_, properties_);
  }

 private:
  VertexName one_ = 0;
  VertexName other_ = 0;
  VertexName instead_ = 0;
  std::uint64_t tries_ = 0;
  std::vector<std::byte> properties_;
  NeighbourList list_;
};

class ChurnWorkload : public GraphWorkload {
 public:
  explicit ChurnWorkload(const WorkloadOptions& options) : GraphWorkload(options, kChurn) {}
  std::string_view name() const override { return "graph-churn"; }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return Make<ChurnClient>(transaction);
  }
};

}  // namespace

std::unique_ptr<Workload> MakeLinkBench(const WorkloadOptions& options) {
  return std::make_unique<LinkWorkload>("linkbench", options, kLinkBench);
}

std::unique_ptr<Workload> MakeTao(const WorkloadOptions& options) {
  return std::make_unique<LinkWorkload>("tao", options, kTao);
}

std::unique_ptr<Workload> MakeGraphChurn(const WorkloadOptions& options) {
  return std::make_unique<ChurnWorkload>(options);
}

}  // namespace slimgraph::txn
