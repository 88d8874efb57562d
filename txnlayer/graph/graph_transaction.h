// The operations of a transaction on a graph. Operations of one transaction see each other's
// writes. An edge is always stored on both sides or on none.
//
//   GraphTransaction work(graph, transaction);
//   const Verdict verdict = work.Run([&](GraphTransaction& g) {
//     if (g.AddEdge(3, 7, properties) == Answer::kAborted) return Answer::kAborted;
//     return g.DeleteEdge(3, 5);
//   });
//   if (verdict.end != Answer::kYes) …          nothing has changed; verdict.cause has the reason
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "txnlayer/graph/internal/base_reader.h"
#include "txnlayer/graph/neighbour_list.h"
#include "txnlayer/graph_model/update.h"
#include "txnlayer/stepwise_fetch.h"

namespace slimgraph::txn {

enum class Answer : std::uint8_t {
  kNo,  // the vertex or edge does not exist
  kYes,
  kAborted,  // the transaction has ended; retry it unless it was refused
};

// How a transaction ended.
struct Verdict {
  Answer end = Answer::kYes;  // kNo: rolled back by its body; kAborted: see `cause`
  std::uint32_t tries = 0;
  // kAborted: after too many conflicts, the record, protocol and stage of the last one; or, if the
  // transaction was refused, what is wrong.
  std::string cause;
};

struct NeighbourQuery {
  bool newest_first = false;  // else sorted by name
  std::uint64_t limit = ~std::uint64_t{0};
  GraphTime from = 0;  // both included
  GraphTime to = kTimePending;
  bool properties = false;
  Direction direction = Direction::kOut;  // directed graphs: outgoing or incoming edges
};

class GraphTransaction {
 public:
  GraphTransaction(TransactionalGraph& graph, Transaction& transaction);

  // Retries the body until it commits, rolls back (returns kNo), or has had as many conflicts as
  // the graph's options allow. What the body reads belongs to one state only if it commits:
  // protocols that validate at the end may have shown it two states before. So a body with nothing
  // to undo returns kYes, even if it has found nothing. A retried body must name the same vertices
  // as long as it finds the same values.
  // `only_reads`: see Transaction::Begin().
  using Body = std::function<Answer(GraphTransaction&)>;
  Verdict Run(const Body& body, bool only_reads = false);

  // The steps of Run, after Transaction::Begin().
  void Open(bool again);
  bool Commit();
  // False: the transaction is still learning(), so that it is not known whether to roll back.
  bool RollBack();
  // The same if all that it has read belongs to one state. Otherwise it is aborted, and returns
  // false.
  bool RollBackIfConsistent() { return transaction_.AbortIfConsistent(); }

  // Names are at most MaxVertexName. Properties have the size that the graph's shape gives, or are
  // empty, which stands for zeros; an edge's properties begin with its weight, if there is one. A
  // transaction that passes other values is refused (kBadValue). The first three return kNo if the
  // vertex does not exist.
  Answer GetVertex(VertexName vertex, MutableBytes properties);
  Answer SetVertex(VertexName vertex, Bytes properties);
  Answer DeleteVertex(VertexName vertex);  // with all its edges
  // Sets the properties if the vertex exists already.
  Answer AddVertex(VertexName vertex, Bytes properties);

  // In a directed graph, from `one` to `other`. kNo: one of the vertices does not exist or, except
  // for AddEdge, the edge does not exist.
  Answer AddEdge(VertexName one, VertexName other, Bytes properties);
  Answer SetEdge(VertexName one, VertexName other, Bytes properties);
  Answer GetEdge(VertexName one, VertexName other, StoredEdge& edge, MutableBytes properties);
  Answer DeleteEdge(VertexName one, VertexName other);

  Answer Neighbours(VertexName vertex, const NeighbourQuery& query, NeighbourList& list);
  Answer Degree(VertexName vertex, std::uint64_t& degree, Direction direction = Direction::kOut);

  const VertexIndexes& indexes() const { return graph_.indexes(); }
  // The vertices whose value in that index is in the range, in the order of their names.
  Answer FindVertices(const VertexIndexes::Index& index, const ValueRange& range,
                      std::vector<VertexName>& found);

  // The changes of these numbers by the current transaction, or by the last one.
  std::int64_t vertex_change() const { return vertex_change_; }
  std::int64_t edge_change() const { return edge_change_; }
  // The transaction was aborted, as it had to learn which records it needs. Retry with Open(true).
  bool learning() const { return transaction_.reason() == AbortReason::kUnnamed; }
  // The changes of all commits so far, if the graph's options ask for a journal. Each commit has
  // its time, the number of words that follow, and these words: updates (graph_model/update.h).
  const std::vector<std::uint64_t>& journal() const { return journal_; }

  // Why the transaction was aborted, in words.
  std::string Cause() const;
  // Whether the current or last transaction has written anything.
  bool wrote() const { return !written_blocks_.empty() || !written_vertices_.empty(); }

  // The time of the last commit. If it wrote nothing, the latest time that it saw.
  GraphTime committed_at() const { return committed_at_; }
  Transaction& transaction() { return transaction_; }

 private:
  // One end of an edge, and the block that has the edge there. From here on, the vertices of
  // directed graphs are sides (sides.h).
  struct Side {
    BlockTree vertex;
    VertexName neighbour = 0;
    unsigned depth = 0;
    Access* access = nullptr;
    bool open = false;
    bool in_base = false;  // whether the base has the edge, if known
  };
  struct Hint {
    VertexName vertex = 0;
    unsigned depth = 0;
  };
  // The current state of an edge, seen from one side.
  struct EdgeState {
    bool alive = false;
    bool in_base = false;
    const EdgeEntry* entry = nullptr;
    BaseGraph::Vertex base_side;  // the vertex in whose list the base has the edge
    EdgeOffset base_position = 0;
  };
  struct WrittenVertex {
    Access* access = nullptr;
    // When it came to exist, or ceased to, if this write changes that; else kTimePending.
    GraphTime since = kTimePending;
    std::uint32_t alive = 0;  // before this write
  };
  // A neighbour, and whether the base has the edge.
  using EdgeInBase = std::pair<VertexName, bool>;
  enum class Precondition : std::uint8_t { kNone, kEdgeExists };

  // Check names and properties. False: the transaction was refused.
  bool CheckName(VertexName vertex);
  bool CheckProperties(const char* what, Bytes properties, std::uint32_t bytes);
  bool FetchTuples(std::span<const Want> wants, Access** out) {
    return steps_.Fetch(transaction_, wants, out);
  }
  Access* FetchTuple(Table& table, Key key, bool write);
  bool AbortInconsistent();
  bool AbortNodeLost();
  EdgeBlock BlockOf(const Access& access) const { return {graph_.shape(), access.record()}; }
  unsigned DepthHint(const BlockTree& vertex) const;
  void SetHint(const BlockTree& vertex, unsigned depth);

  bool FindSides(std::span<Side> sides, bool write);
  bool AcquireSides(std::span<Side> sides);
  bool AcquireBlocks(std::span<Access* const> blocks);
  bool AllBlocks(const BlockTree& vertex, bool write, bool& alive);
  bool LatestEntries(const BlockTree& vertex, bool& alive);
  bool FindEdge(const Side& side, EdgeState& now);
  bool FindInBase(const Side& side, EdgeState& now);
  bool Put(Side& side, bool alive, bool in_base, Bytes properties);
  bool DeleteOnOwnSide(const BlockTree& vertex, std::span<EdgeInBase> edges);
  void DropInvisible(EdgeBlock block);
  bool Split(Side& side);
  bool PutOnBoth(std::span<Side> sides, bool alive, bool in_base, Bytes properties);
  Answer WriteEdge(VertexName one, VertexName other, Precondition precondition, bool alive,
                   Bytes properties);
  Access* VertexAccess(VertexName vertex, bool write, bool& alive);
  bool PutVertex(Access& access, bool alive, Bytes properties);
  bool ReadProperties(const Access& access, MutableBytes properties);
  bool UpdateIndexes(const Access& access, bool alive, Bytes properties);
  bool SetBlocks(const BlockTree& vertex, BlockKind kind);
  bool DeleteWithEdges(VertexName vertex);
  VertexName SideOf(VertexName vertex, Direction direction) const {
    return txn::SideOf(graph_.shape(), vertex, direction);
  }
  void Saw(GraphTime time) {
    if (time != kTimePending) seen_ = std::max(seen_, time);
  }
  void AppendToJournal(const Update& update) {
    if (graph_.options().journal) AppendUpdate(update, uncommitted_journal_);
  }

  TransactionalGraph& graph_;
  Transaction& transaction_;
  BaseReader base_;
  // A protocol that needs all tuples named at once learns them from aborted tries.
  const bool names_first_;
  StepwiseFetch steps_;
  std::string refusal_;  // what was wrong with a value
  GraphTime seen_ = 0;
  // The latest commit in blocks of which entries were dropped that no snapshot saw so far.
  GraphTime dropped_after_ = 0;
  GraphTime committed_at_ = 0;
  std::int64_t vertex_change_ = 0;
  std::int64_t edge_change_ = 0;
  std::vector<Access*> written_blocks_;
  std::vector<WrittenVertex> written_vertices_;
  std::vector<Hint> hints_;
  // Buffers of the current operation.
  std::vector<std::byte> properties_before_;
  std::vector<std::byte> properties_after_;
  std::vector<Key> index_keys_;
  std::vector<Want> wants_;
  std::vector<Access*> found_;
  std::vector<Side*> searching_;
  std::vector<std::uint32_t> level_;  // numbers of blocks
  std::vector<std::uint32_t> below_;
  std::vector<Access*> all_blocks_;
  std::vector<const EdgeEntry*> latest_;
  TimedEdges timed_;
  std::vector<EdgeInBase> edges_to_delete_;
  std::vector<Side> sides_to_delete_;
  std::vector<std::uint64_t> uncommitted_journal_;  // by the current transaction
  std::vector<std::uint64_t> journal_;              // by all commits
};

}  // namespace slimgraph::txn
