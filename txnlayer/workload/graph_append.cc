// Lists as neighbours. An append adds a vertex, whose name is the value, and an edge to it. A read
// asks for the neighbours, in the order of the edges' times. An append also counts the neighbours,
// so that two appends in different blocks conflict and have an order.
#include <algorithm>

#include "txnlayer/graph/graph_transaction.h"
#include "txnlayer/workload/list_history.h"

namespace slimgraph::txn {
namespace {

// Little, so that tables grow in the run.
constexpr std::uint64_t kRoomVertices = 16;
constexpr std::uint64_t kRoomEdges = 16;

// Larger than all keys.
constexpr VertexName kFirstValue = VertexName{1} << 33;

class NoBase : public BaseSource {
 public:
  const SlimFile* file() const override { return nullptr; }
};

class GraphAppendClient : public ListHistoryClient {
 public:
  GraphAppendClient(TransactionalGraph& graph, Transaction& transaction,
                    const ListHistoryOptions& options)
      : ListHistoryClient(transaction, options), work_(graph, transaction) {}

 protected:
  Attempt Run(Transaction& transaction, std::vector<ListOperation>& operations) override {
    bool well = work_.Open(false) && Do(operations);
    while (!well && work_.learning()) {
      transaction.Begin(true);
      well = work_.Open(true) && Do(operations);
    }
    return well && work_.Commit() ? Attempt::kCommitted : Attempt::kAborted;
  }

 private:
  bool Do(std::vector<ListOperation>& operations) {
    return std::all_of(operations.begin(), operations.end(), [&](ListOperation& operation) {
      return operation.append ? Append(operation) : Read(operation);
    });
  }

  bool Append(const ListOperation& operation) {
    const VertexName value = kFirstValue + operation.value;
    std::uint64_t length = 0;
    const Answer counted = work_.Degree(operation.key, length);
    if (counted == Answer::kAborted) return false;
    if (length >= kListLength) {
      GiveUpList(operation.key);
      work_.RollBack();
      return false;
    }
    if (counted == Answer::kNo && work_.AddVertex(operation.key, {}) == Answer::kAborted) {
      return false;
    }
    if (work_.AddVertex(value, {}) == Answer::kAborted) return false;
    const Answer added = work_.AddEdge(operation.key, value, {});
    // A transaction that must abort may have found a vertex whose blocks it had not found.
    if (added == Answer::kNo) work_.RollBack();
    return added == Answer::kYes;
  }

  bool Read(ListOperation& operation) {
    if (work_.Neighbours(operation.key, {}, list_) == Answer::kAborted) return false;
    // The edges of one transaction have the same time. They are listed by ascending values, and the
    // stable sort keeps that order.
    edges_.clear();
    list_.ForEach([&](const StoredEdge& edge, const std::byte*) { edges_.push_back(edge); });
    std::stable_sort(edges_.begin(), edges_.end(),
                     [](const StoredEdge& a, const StoredEdge& b) { return a.time < b.time; });
    operation.read.emplace();
    for (const StoredEdge& edge : edges_) {
      operation.read->push_back(static_cast<std::uint32_t>(edge.neighbour - kFirstValue));
    }
    return true;
  }

  GraphTransaction work_;
  NeighbourList list_;
  std::vector<StoredEdge> edges_;
};

class GraphAppend : public ListHistoryWorkload {
 public:
  explicit GraphAppend(const WorkloadOptions& options)
      : ListHistoryWorkload(options), fold_share_(options.fold_share) {}

  std::string_view name() const override { return "graph-append"; }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return std::make_unique<GraphAppendClient>(*graph_, transaction, options());
  }
  TransactionalGraph* graph() override { return graph_.get(); }
  // A separate checker verifies the lists. This verifies that each edge is on both sides.
  Status Verify(Engine&) override {
    SLIM_TRY(graph_->TakeCensus());
    return {};
  }

 protected:
  Status LoadLists(Engine& engine) override {
    SLIM_ASSIGN(graph_, TransactionalGraph::Make(engine, NoBase(),
                                                 {.shape = {},
                                                  .room_vertices = kRoomVertices,
                                                  .room_edges = kRoomEdges,
                                                  .fold_share = fold_share_}));
    return {};
  }

 private:
  const double fold_share_;
  std::unique_ptr<TransactionalGraph> graph_;
};

}  // namespace

std::unique_ptr<Workload> MakeGraphAppend(const WorkloadOptions& options) {
  return std::make_unique<GraphAppend>(options);
}

}  // namespace slimgraph::txn
