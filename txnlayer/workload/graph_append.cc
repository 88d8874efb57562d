// Lists as neighbours. An append adds a vertex, whose name is the value, and an edge to it. A read
// asks for the neighbours, in the order of the edges' times. An append also counts the neighbours,
// so that two appends in different blocks conflict and have an order.
//
// With an index, a value's vertex has its list and its position there as properties, and half of
// the reads and appends find the values of a list by the index.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "slimgraph/cluster/gather.h"
#include "txnlayer/graph/graph_transaction.h"
#include "txnlayer/workload/list_history.h"

namespace slimgraph::txn {
namespace {

// Little, so that tables grow in the run.
constexpr std::uint64_t kRoomVertices = 16;
constexpr std::uint64_t kRoomEdges = 16;

// Larger than all keys.
constexpr VertexName kFirstValue = VertexName{1} << 33;

struct Place {
  std::uint64_t list;  // see ListNumber()
  std::uint64_t position;
};
const PropertyIndex kIndexOfLists = {"list", offsetof(Place, list), FieldType::kU64};

// Numbers so large that every other list shares its code in the index with the next one.
constexpr std::uint64_t ListNumber(std::uint64_t key) {
  return (std::uint64_t{1} << 40) + (key << 22);
}

class NoBase : public BaseSource {
 public:
  const SlimFile* file() const override { return nullptr; }
};

class GraphAppendClient : public ListHistoryClient {
 public:
  GraphAppendClient(TransactionalGraph& graph, Transaction& transaction,
                    const ListHistoryOptions& options)
      : ListHistoryClient(transaction, options),
        work_(graph, transaction),
        index_(graph.indexes().Find(kIndexOfLists.name)) {}

 protected:
  Attempt Run(Transaction& transaction, std::vector<ListOperation>& operations) override {
    by_index_.clear();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      by_index_.push_back(index_ != nullptr && Chance(random(), 0.5));
    }
    work_.Open(false);
    bool well = Do(operations);
    while (!well && work_.learning()) {
      transaction.Begin(true);
      work_.Open(true);
      well = Do(operations);
    }
    return well ? Attempt::kCommitted : Attempt::kAborted;
  }

 private:
  bool Do(std::vector<ListOperation>& operations) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      ListOperation& one = operations[i];
      if (!(one.append ? Append(one, by_index_[i]) : Read(one, by_index_[i]))) return false;
    }
    return work_.Commit();
  }

  bool Append(const ListOperation& operation, bool by_index) {
    const VertexName value = kFirstValue + operation.value;
    std::uint64_t length = 0;
    const Answer counted = work_.Degree(operation.key, length);
    if (counted == Answer::kAborted) return false;
    if (by_index) {
      if (!FindValues(operation.key)) return false;
      length = values_.size();
    }
    if (length >= kListLength) {
      GiveUpList(operation.key);
      work_.RollBack();
      return false;
    }
    if (counted == Answer::kNo && work_.AddVertex(operation.key, {}) == Answer::kAborted) {
      return false;
    }
    const Place place{ListNumber(operation.key), length};
    const Bytes properties = std::as_bytes(std::span(&place, index_ == nullptr ? 0 : 1));
    if (work_.AddVertex(value, properties) == Answer::kAborted) return false;
    const Answer added = work_.AddEdge(operation.key, value, {});
    // A transaction that must abort may have found a vertex whose blocks it had not found.
    if (added == Answer::kNo) work_.RollBack();
    return added == Answer::kYes;
  }

  bool FindValues(std::uint64_t key) {
    const auto number = static_cast<FieldValue>(ListNumber(key));
    return work_.FindVertices(*index_, {number, number}, values_) != Answer::kAborted;
  }

  bool ReadByIndex(ListOperation& operation) {
    if (!FindValues(operation.key)) return false;
    std::vector<std::pair<std::uint64_t, VertexName>> placed;
    for (const VertexName value : values_) {
      Place place{};
      const MutableBytes properties = std::as_writable_bytes(std::span(&place, 1));
      if (work_.GetVertex(value, properties) == Answer::kAborted) return false;
      placed.emplace_back(place.position, value);
    }
    std::sort(placed.begin(), placed.end());
    operation.read.emplace();
    for (const auto& [position, value] : placed) {
      operation.read->push_back(static_cast<std::uint32_t>(value - kFirstValue));
    }
    return true;
  }

  bool Read(ListOperation& operation, bool by_index) {
    if (by_index) return ReadByIndex(operation);
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
  const VertexIndexes::Index* const index_;  // null: there is none
  std::vector<bool> by_index_;  // the operations that read by the index, in all attempts
  std::vector<VertexName> values_;
  NeighbourList list_;
  std::vector<StoredEdge> edges_;
};

class GraphAppend : public ListHistoryWorkload {
 public:
  GraphAppend(const WorkloadOptions& options, bool indexed)
      : ListHistoryWorkload(options), fold_share_(options.fold_share), indexed_(indexed) {}

  std::string_view name() const override { return indexed_ ? "index-append" : "graph-append"; }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return std::make_unique<GraphAppendClient>(*graph_, transaction, options());
  }
  TransactionalGraph* graph() override { return graph_.get(); }
  // A separate checker verifies the lists. This verifies that each edge is on both sides, and that
  // no two values have the same place.
  Status Verify(Engine& engine) override {
    SLIM_TRY(graph_->TakeCensus());
    return indexed_ ? CheckPlaces(engine) : Status();
  }

 protected:
  Status LoadLists(Engine& engine) override {
    GraphOptions graph{.shape = {},
                       .room_vertices = kRoomVertices,
                       .room_edges = kRoomEdges,
                       .fold_share = fold_share_};
    if (indexed_) {
      graph.shape.vertex_bytes = sizeof(Place);
      graph.indexes = {kIndexOfLists};
    }
    SLIM_ASSIGN(graph_, TransactionalGraph::Make(engine, NoBase(), graph));
    return {};
  }

 private:
  Status CheckPlaces(Engine& engine) {
    std::vector<Place> mine;
    engine.tables().ForEachRecord(graph_->vertices(), [&](Key key, const std::byte* record) {
      if (record == nullptr || VertexOfKey(key) < kFirstValue) return;
      std::memcpy(&mine.emplace_back(), record + sizeof(VertexRecord), sizeof(Place));
    });
    SLIM_ASSIGN(const auto all, GatherList<Place>(engine.cluster().all(), mine));
    std::map<std::uint64_t, std::set<std::uint64_t>> positions;
    for (const Place& place : all) {
      if (positions[place.list].insert(place.position).second) continue;
      return VerificationError("two values are at position {} of list {}", place.position,
                               place.list);
    }
    for (const auto& [list, of_list] : positions) {
      if (*of_list.rbegin() + 1 == of_list.size()) continue;
      return VerificationError("of list {}, {} positions up to {} are taken", list, of_list.size(),
                               *of_list.rbegin());
    }
    return {};
  }

  const double fold_share_;
  const bool indexed_;
  std::unique_ptr<TransactionalGraph> graph_;
};

}  // namespace

std::unique_ptr<Workload> MakeGraphAppend(const WorkloadOptions& options) {
  return std::make_unique<GraphAppend>(options, /*indexed=*/false);
}

std::unique_ptr<Workload> MakeIndexAppend(const WorkloadOptions& options) {
  return std::make_unique<GraphAppend>(options, /*indexed=*/true);
}

}  // namespace slimgraph::txn
