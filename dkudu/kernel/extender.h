// One thread's search for embeddings of a plan: extended level by level in chunks, breadth-first
// within a chunk, so that the lists of many vertices are brought together, and depth-first over
// chunks, so that memory stays within a budget whatever the graph (Kudu, section 4). Each level has
// two chunks of its own: while one is worked off to the end, the lists of the other are on their
// way. The budget is dealt out to the chunks when it starts. What it has not come to yet it offers
// to engines that have nothing to do, from the lowest level on which something is left.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dkudu/graph/fetched_lists.h"
#include "dkudu/kernel/arena.h"
#include "dkudu/kernel/chunk_room.h"
#include "dkudu/kernel/count.h"
#include "dkudu/kernel/marks.h"
#include "dkudu/kernel/root_task.h"
#include "dkudu/plan/plan.h"
#include "dkudu/work_offers.h"

namespace slimgraph {

// Takes embeddings: the vertices in the pattern's own order. False: no more are wanted.
using EmbeddingSink = std::function<Result<bool>(std::span<const VertexId>)>;

class Extender {
 public:
  // Of what is offered to others at once.
  static constexpr std::uint64_t kMostOfferBytes =
      (2 + kMaxPatternVertices) * sizeof(std::uint64_t);

  // Without a sink, embeddings are counted. `chunk_bytes` is at least LeastExtenderBytes().
  Extender(const MiningGraph& graph, const Plan& plan, ListFetch& fetch, ListCache* cache,
           Reuse reuse, std::uint64_t chunk_bytes, EmbeddingSink sink);

  // Works on tasks until there are no more, or the sink wants no more; then on what others offer.
  using NextTask = std::function<Result<std::optional<RootTask>>()>;
  Status Run(NextTask next_task, WorkOffers& offers, Endpoint& endpoint);
  WideCount count() const { return count_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  static constexpr std::size_t kAll = ~std::size_t{0};

  struct Record {
    VertexId vertex;
    std::uint32_t parent;
    std::uint32_t ticket;
  };
  struct Chunk {
    Chunk(const ChunkRoom& its_room, std::size_t sets_of_record, FetchedLists list_batch);
    void Clear();

    std::vector<Record> records;
    std::vector<List> lists;  // by record, on levels that need them
    std::vector<List> sets;   // by record, then by set of the level
    Arena arena;
    FetchedLists batch;
    ChunkRoom room;
    std::uint64_t set_elements = 0;  // that the records' sets come to at most
    RootTask task;                   // of level 0: where its roots are from
  };
  struct Level {
    Chunk& current() { return chunks[at]; }
    const Chunk& current() const { return chunks[at]; }

    std::vector<Chunk> chunks;  // two if there are lists to wait for
    std::size_t at = 0;
    // Where in the parents' chunk, or in the task, the next record comes from: which parent, and
    // which of its candidates.
    std::uint32_t parent = 0;
    std::size_t position = 0;
    // Where it ends: parents, and candidates of the last of them.
    std::uint32_t parents_end = 0;
    std::size_t last_end = kAll;
  };
  struct PositionRange {
    std::size_t begin;
    std::size_t end;
  };

  Status RunAll();
  Status Extend(unsigned level);
  Status WorkOffAll(unsigned level);
  Result<bool> FillAhead(unsigned level, Chunk& chunk);
  Status WorkOff(unsigned level);
  Status Prepare(unsigned level);
  List CandidatesOf(unsigned level, std::uint32_t parent);
  PositionRange RangeOf(unsigned level, std::uint32_t parent, std::size_t candidates) const;
  Result<bool> FillRoots(Chunk& chunk);
  bool Fill(unsigned level, Chunk& chunk);
  bool AddRecord(unsigned level, Chunk& chunk, VertexId v);
  void FindRoomForSets(unsigned level);
  std::uint64_t SetElements(unsigned level, std::uint64_t degree) const;
  Status AwaitLists(unsigned level);
  void MakeSets(unsigned level);

  // The record and vertex of each level up to this one.
  void SetPath(unsigned level, std::uint32_t record);
  List Resolve(SetRef set) const {
    return levels_[set.level]
        .current()
        .sets[std::size_t{path_[set.level]} * plan_.levels[set.level].sets.size() + set.index];
  }
  List Operand(const SetStep& step) const {
    return levels_[step.operand].current().lists[path_[step.operand]];
  }
  List AboveAll(List list, PatternMask levels) const;
  bool IsTaken(VertexId v, PatternMask levels) const;

  // In extender_offers.cc.
  void OfferSome(unsigned deepest);
  struct Remainder;
  std::optional<Remainder> LastOf(unsigned level);
  Status Resume(unsigned level, std::span<const std::uint64_t> words);
  Status Place(unsigned level, VertexId v);

  // In extender_count.cc.
  void CountAll();
  std::size_t CountLast(const PlanLevel& level, bool marked) const;
  WideCount CountSuffix();
  std::size_t CountMeeting(const Suffix::Meeting& meeting);
  List LastSet(const PlanLevel& level, std::vector<VertexId>& scratch) const;
  std::size_t Overcount(const PlanLevel& level, List set) const;
  Status ListAll();

  const MiningGraph& graph_;
  const Plan& plan_;
  ListFetch& fetch_;
  EmbeddingSink sink_;
  std::vector<Level> levels_;
  std::array<std::uint32_t, kMaxPatternVertices> path_ = {};
  std::array<VertexId, kMaxPatternVertices> vertex_ = {};
  std::vector<std::uint64_t> base_sizes_;  // of the sets that FindRoomForSets has looked at
  NextTask next_task_;
  std::optional<RootTask> task_;  // whose roots are taken
  WorkOffers* offers_ = nullptr;
  Endpoint* endpoint_ = nullptr;
  Marks marks_;
  std::vector<VertexId> scratch_;
  // Of the suffix, by class or set of classes: candidates with those that are taken, and how many
  // there are without.
  struct Candidates {
    List list;
    std::uint64_t count = 0;
    std::vector<VertexId> scratch;
  };
  std::vector<Candidates> candidates_;
  WideCount count_ = 0;
  bool stopped_ = false;
};

}  // namespace slimgraph
