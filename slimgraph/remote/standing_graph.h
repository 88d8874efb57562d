// A graph that stands in the memory of a pool: its lists are coded once, and any number of jobs
// read them. It is cut into one part for each node of the pool.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/files/weights.h"
#include "slimgraph/graph/partition.h"
#include "slimgraph/remote/neighbour_summary.h"
#include "slimgraph/remote/served_lists.h"

namespace slimgraph {

// One node's part, as it passes from the process that has made it to those that read it.
struct StandingPart {
  std::string facts;  // about the whole graph; the same for all parts
  std::vector<std::unique_ptr<SharedMemory>> memories;
};

// Other forms of a graph that stand beside it, views. As a graph of its own, a view has weights of
// 1 (UnitWeights), or is an undirected graph (BothDirections).
constexpr std::string_view kUnitView = "unit";
constexpr std::string_view kBothView = "both";

// Codes part `part` of `parts` of a .slim file, in all directions that the file has, with its
// weights. `shown` names the file in messages. `view`: "" or a view.
Result<StandingPart> LoadStandingPart(const std::string& path, const std::string& shown,
                                      NodeId part, NodeId parts, std::size_t threads,
                                      std::string_view view = "");

// What a job knows of the graph. Lists are read from the pool's memory; only original ids, and
// lists that a serial computation needs, are read from the file that the graph was loaded from.
class StandingGraph : public GraphSource {
 public:
  // `memories` are those of this node's part; nodes that keep no part have none.
  static Result<std::unique_ptr<StandingGraph>> Open(
      const std::string& facts, std::vector<std::unique_ptr<SharedMemory>> memories);

  const std::string& view() const { return view_; }
  NodeId parts() const { return static_cast<NodeId>(parts_.size()); }
  const VertexPart& part(NodeId number) const { return parts_[number].vertices; }
  // The arcs of a part's out lists.
  EdgeOffset arcs_of(NodeId number) const { return parts_[number].arcs; }
  // Cuts between compute nodes' shares are at multiples of so many vertices of a part.
  VertexId step() const { return step_; }

  // The memories of this node's part, in the order offsets, lists, weights; null on nodes that keep
  // no part, and if the graph has no weights.
  const SharedMemory* memory(Direction direction, ListMemory which) const;
  // Which one of a part's memories that is.
  std::size_t MemoryNumber(Direction direction, ListMemory which) const;
  // The same, as spans without regions.
  ServedLists own_lists(Direction direction) const;

  // Whether out lists are summarised. Those of directed graphs without incoming lists are not, and
  // none if there are too many parts.
  bool summarized() const;
  // How they are, and the words of this node's vertices. There are none on nodes that keep no part.
  NeighbourSummary summary() const;
  std::span<const NeighbourSummary::Word> summary_words() const;

  // The range of this part's weights, which was found when it was loaded. As if there were no
  // weights on nodes that keep no part.
  WeightRange weight_range() const;

  std::uint64_t original_id_bytes() const;

  std::uint64_t file_bytes() const override { return 0; }
  using GraphSource::has;
  bool has(SectionKind kind) const override;
  std::uint64_t section_bytes(SectionKind kind) const override;
  Status Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
              std::size_t threads = 0) const override;
  Result<OriginalIds> ReadOriginalIds() const override;
  // The graph of a view without directions as the file has it, with directions; otherwise this
  // object.
  const GraphSource& with_directions() const {
    return with_directions_ ? *with_directions_ : static_cast<const GraphSource&>(*this);
  }

 private:
  class WithDirections;
  struct Part {
    VertexPart vertices;
    EdgeOffset arcs = 0;
  };
  StandingGraph() = default;
  Status ReadFacts(const std::string& facts);
  bool weighted() const { return weight_type() != WeightType::kNone; }
  // The file and its view are opened when they are first needed.
  Status Open() const;

  std::string file_path_;
  std::string view_;
  std::unique_ptr<GraphSource> with_directions_;  // null: see above
  std::vector<Part> parts_;
  VertexId step_ = 1;
  std::vector<std::unique_ptr<SharedMemory>> memories_;
  mutable Mutex mutex_;
  // Guarded by mutex_.
  mutable std::unique_ptr<SlimFile> file_;
  mutable std::unique_ptr<GraphSource> viewed_;  // null: the file itself
};

}  // namespace slimgraph
