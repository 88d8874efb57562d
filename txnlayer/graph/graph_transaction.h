// What a transaction does to a graph. Several operations in one transaction see each other's
// writes; an edge is on both sides or on none.
//
//   GraphTransaction work(graph, transaction);
//   const Verdict verdict = work.Run([&](GraphTransaction& g) {
//     if (g.AddEdge(3, 7, properties) == Answer::kAborted) return Answer::kAborted;
//     return g.DeleteEdge(3, 5);
//   });
//   if (verdict.end != Answer::kYes) …          nothing has changed; verdict.Why() tells the cause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "txnlayer/disk/update.h"
#include "txnlayer/graph/base_reader.h"
#include "txnlayer/graph/neighbour_list.h"

namespace slimgraph::txn {

enum class Answer : std::uint8_t {
  kNo,  // there is no such vertex or edge
  kYes,
  kAborted,  // the transaction has ended, and is to be tried again
};

// How a transaction has ended.
struct Verdict {
  Answer end =
      Answer::kYes;  // kNo: as its body wanted; kAborted: in conflicts, as often as allowed
  std::uint32_t tries = 0;
  std::string cause;  // of the last conflict: which record, which protocol, which stage
};

struct NeighbourQuery {
  bool newest_first = false;  // else in the order of their ids
  std::uint64_t limit = ~std::uint64_t{0};
  GraphTime from = 0;  // both included
  GraphTime to = kTimePending;
  bool properties = false;
  Direction direction = Direction::kOut;  // of a directed graph: whose edges go there, or kIn: come
};

class GraphTransaction {
 public:
  GraphTransaction(TransactionalGraph& graph, Transaction& transaction);

  // Tries it until it has committed, rolls itself back (the body returns kNo), or has met as many
  // conflicts as the graph's options allow. What a body has found is of one state when it commits,
  // and only then: protocols that validate at the end may have shown it two before. So a body that
  // has nothing to undo returns kYes, also where it has found nothing. And a body that is tried
  // again names the same vertices, as far as it finds the same.
  using Body = std::function<Answer(GraphTransaction&)>;
  Verdict Run(const Body& body);

  // The same in steps, after Transaction::Begin(). False: aborted.
  bool Open(bool again);
  bool Commit();
  void RollBack();

  // Names are at most MaxVertexName, properties of the graph's shape or empty, which stands for
  // zeros; those of an edge begin with its weight, where there are weights. kNo of the first three:
  // nothing was there.
  Answer GetVertex(VertexName vertex, MutableBytes properties);
  Answer SetVertex(VertexName vertex, Bytes properties);
  Answer DeleteVertex(VertexName vertex);  // with all its edges
  // Also sets the properties of one that is there.
  Answer AddVertex(VertexName vertex, Bytes properties);

  // From `one` to `other`, where the graph is directed. kNo: one of the vertices is not there, and
  // for all but AddEdge, or the edge.
  Answer AddEdge(VertexName one, VertexName other, Bytes properties);
  Answer SetEdge(VertexName one, VertexName other, Bytes properties);
  Answer GetEdge(VertexName one, VertexName other, StoredEdge& edge, MutableBytes properties);
  Answer DeleteEdge(VertexName one, VertexName other);

  Answer Neighbours(VertexName vertex, const NeighbourQuery& query, NeighbourList& list);
  Answer Degree(VertexName vertex, std::uint64_t& degree, Direction direction = Direction::kOut);

  // By how much the transaction at hand, or the last one, has changed these numbers.
  std::int64_t vertex_change() const { return vertex_change_; }
  std::int64_t edge_change() const { return edge_change_; }
  // It was aborted for the sake of what it has learnt: the next try, with Open(true), knows more.
  bool learning() const { return learning_; }
  // It was aborted, and always will be: it takes more records than the protocol allows.
  bool too_large() const { return too_large_; }

  // What all commits so far have changed, where the graph's options want it noted: of each, its
  // time, the number of words that follow, and as many of updates (disk/update.h).
  const std::vector<std::uint64_t>& journal() const { return journal_; }

  // The time under which the last commit is known; where it has written nothing, the latest that it
  // has seen.
  GraphTime committed_at() const { return committed_at_; }
  Transaction& transaction() { return transaction_; }

 private:
  // The block to which an edge belongs on one side of it. From here on, vertices of directed graphs
  // are sides (sides.h).
  struct Side {
    VertexPlace vertex;
    VertexName neighbour = 0;
    unsigned depth = 0;
    Access* access = nullptr;
    bool open = false;
    bool in_base = false;  // whether the base has the edge, where that is known
  };
  struct Hint {
    VertexName vertex = 0;
    unsigned depth = 0;
  };
  // What an edge is now, as one side has it.
  struct EdgeNow {
    bool alive = false;
    bool in_base = false;
    const EdgeEntry* entry = nullptr;
    BaseGraph::Vertex base_side;  // where the base has it
    EdgeOffset base_place = 0;
  };
  // A neighbour, and whether the base has the edge.
  using EdgeInBase = std::pair<VertexName, bool>;
  enum class Wanted : std::uint8_t { kAny, kPresent };

  bool Touch(std::span<const Want> wants, Access** out);
  Access* TouchOne(Table& table, Key key, bool write);
  bool Inconsistent();
  bool LostNode();
  EdgeBlock BlockOf(const Access& access) const { return {graph_.shape(), access.record()}; }
  unsigned DepthHint(const VertexPlace& vertex) const;
  void SetHint(const VertexPlace& vertex, unsigned depth);

  bool FindSides(std::span<Side> sides, bool write);
  bool OwnSides(std::span<Side> sides);
  bool Own(std::span<Access* const> blocks);
  bool AllBlocks(const VertexPlace& vertex, bool write, bool& alive);
  bool LatestEntries(const VertexPlace& vertex, bool& alive);
  bool LookUp(const Side& side, EdgeNow& now);
  bool FindInBase(const Side& side, EdgeNow& now);
  bool Put(Side& side, bool alive, bool in_base, Bytes properties);
  bool PutOwn(const VertexPlace& vertex, std::span<EdgeInBase> edges);
  bool Split(Side& side);
  bool PutOnBoth(std::span<Side> sides, bool alive, bool in_base, Bytes properties);
  Answer WriteEdge(VertexName one, VertexName other, Wanted wanted, bool alive, Bytes properties);
  Access* VertexAccess(VertexName vertex, bool write, bool& alive);
  void PutVertex(Access& access, bool alive, Bytes properties);
  bool SetBlocks(const VertexPlace& vertex, BlockKind kind);
  bool DeleteWithEdges(VertexName vertex);
  VertexName SideOf(VertexName vertex, Direction direction) const {
    return txn::SideOf(graph_.shape(), vertex, direction);
  }
  void Saw(GraphTime time) {
    if (time != kTimePending) seen_ = std::max(seen_, time);
  }
  std::string Cause() const;
  void Note(const Update& update) {
    if (graph_.options().journal) AppendUpdate(update, noted_);
  }

  TransactionalGraph& graph_;
  Transaction& transaction_;
  BaseReader base_;
  // A protocol that wants all tuples named at once learns them from tries in vain.
  const bool names_first_;
  std::vector<Want> footprint_;
  bool learning_ = false;
  bool too_large_ = false;
  GraphTime seen_ = 0;
  GraphTime committed_at_ = 0;
  std::int64_t vertex_change_ = 0;
  std::int64_t edge_change_ = 0;
  std::vector<Access*> written_blocks_;
  std::vector<Access*> written_vertices_;
  std::vector<Hint> hints_;
  // Of the operation at hand.
  std::vector<Want> wants_;
  std::vector<Access*> found_;
  std::vector<Side*> asking_;
  std::vector<std::uint32_t> level_;  // of blocks, by number
  std::vector<std::uint32_t> below_;
  std::vector<Access*> all_blocks_;
  std::vector<const EdgeEntry*> latest_;
  TimedEdges timed_;
  std::vector<EdgeInBase> deleting_;
  std::vector<Side> deleting_sides_;
  std::vector<std::uint64_t> noted_;    // of the transaction at hand
  std::vector<std::uint64_t> journal_;  // of all that have committed
};

}  // namespace slimgraph::txn
