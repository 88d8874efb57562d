// One thread's search for embeddings of a plan (Kudu, section 4). Embeddings are extended level by
// level in chunks. Within a chunk the search is breadth-first, so that the lists of many vertices
// are fetched together. Over chunks it is depth-first, so that memory stays within a budget for any
// graph. A level that fetches lists has two chunks: while one is processed, the lists of the other
// are being fetched. The budget is divided among the chunks at the start. The engine offers work it
// has not begun to idle engines, from the lowest level that has any.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dkudu/internal/graph/fetched_lists.h"
#include "dkudu/internal/kernel/arena.h"
#include "dkudu/internal/kernel/chunk_room.h"
#include "dkudu/internal/kernel/count.h"
#include "dkudu/internal/kernel/marks.h"
#include "dkudu/internal/kernel/root_task.h"
#include "dkudu/internal/sharing/work_offers.h"
#include "dkudu/plan/plan.h"

namespace slimgraph::dkudu {

// Receives an embedding: the vertices in the pattern's own order. Returns false to end the search.
using EmbeddingSink = std::function<Result<bool>(std::span<const VertexId>)>;

class Extender {
 public:
  // The most bytes of one offer.
  static constexpr std::uint64_t kMostOfferBytes =
      (2 + kMaxPatternVertices) * sizeof(std::uint64_t);

  // Without a sink, embeddings are counted. `chunk_bytes` must be at least LeastExtenderBytes().
  Extender(const MiningGraph& graph, const Plan& plan, ListFetch& fetch, ListCache* cache,
           Reuse reuse, std::uint64_t chunk_bytes, EmbeddingSink sink);

  // Works on tasks until there are no more, or the sink ends the search; then on work that others
  // offer.
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
    std::vector<List> sets;   // by record, then by the level's sets
    Arena arena;
    FetchedLists batch;
    ChunkRoom room;
    std::uint64_t set_elements = 0;  // an upper bound for all sets of the records
    RootTask task;                   // of level 0: the task of the roots
  };
  struct Level {
    Chunk& current() { return chunks[at]; }
    const Chunk& current() const { return chunks[at]; }

    std::vector<Chunk> chunks;  // two if lists are fetched
    std::size_t at = 0;
    // Where the next record comes from: the parent, by its number in the parents' chunk, and the
    // position in its candidates. On level 0, `position` counts the roots of the task.
    std::uint32_t parent = 0;
    std::size_t position = 0;
    // Where the level ends: after which parent, and after which candidate of that last parent.
    std::uint32_t parents_end = 0;
    std::size_t last_end = kAll;
  };
  struct PositionRange {
    std::size_t begin;
    std::size_t end;
  };

  Status RunAll();
  Status Extend(unsigned level);
  Status ProcessLevel(unsigned level);
  Result<bool> FillAndFetch(unsigned level, Chunk& chunk);
  Status ProcessChunk(unsigned level);
  Status Prepare(unsigned level);
  List CandidatesOf(unsigned level, std::uint32_t parent);
  PositionRange RangeOf(unsigned level, std::uint32_t parent, std::size_t candidates) const;
  Result<bool> FillRoots(Chunk& chunk);
  bool Fill(unsigned level, Chunk& chunk);
  bool AddRecord(unsigned level, Chunk& chunk, VertexId v);
  void RecordBaseSizes(unsigned level);
  std::uint64_t SetElements(unsigned level, std::uint64_t degree) const;
  Status AwaitLists(unsigned level);
  void MakeSets(unsigned level);

  // Sets path_ and vertex_ for this level and all below it.
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
  void OfferPart(unsigned deepest);
  struct Remainder;
  std::optional<Remainder> LastPartOf(unsigned level);
  Status Resume(unsigned level, std::span<const std::uint64_t> words);
  Status SetOnlyRecord(unsigned level, VertexId v);

  // In extender_count.cc.
  void CountAll();
  std::size_t CountLast(const PlanLevel& level, bool marked) const;
  WideCount CountSuffix();
  std::size_t CountIntersection(const Suffix::Intersection& intersection);
  List LastSet(const PlanLevel& level, std::vector<VertexId>& scratch) const;
  std::size_t TakenAmong(const PlanLevel& level, List set) const;
  Status ListAll();

  const MiningGraph& graph_;
  const Plan& plan_;
  ListFetch& fetch_;
  EmbeddingSink sink_;
  std::vector<Level> levels_;
  std::array<std::uint32_t, kMaxPatternVertices> path_ = {};
  std::array<VertexId, kMaxPatternVertices> vertex_ = {};
  std::vector<std::uint64_t> base_sizes_;  // of the sets from which new sets are made
  NextTask next_task_;
  std::optional<RootTask> task_;  // the task whose roots are being added
  WorkOffers* offers_ = nullptr;
  Endpoint* endpoint_ = nullptr;
  Marks marks_;
  std::vector<VertexId> scratch_;
  // For the suffix, by class or set of classes: the candidates, which may include vertices that the
  // embedding has, and their number without these.
  struct Candidates {
    List list;
    std::uint64_t count = 0;
    std::vector<VertexId> scratch;
  };
  std::vector<Candidates> candidates_;
  WideCount count_ = 0;
  bool stopped_ = false;
};

}  // namespace slimgraph::dkudu
