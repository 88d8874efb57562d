// A number for each entry of each list of a mining graph. The numbers of a list lie at its home,
// also on memory nodes; compute nodes read and write them one-sided. All are 0 at first. Reads and
// writes of the same numbers must be separated by a collective operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dkudu/mining_job.h"

namespace slimgraph::dkudu {

class ArcValues {
 public:
  using Value = std::uint32_t;
  using Values = std::span<const Value>;

  // Collective.
  static Result<ArcValues> Make(MiningJob& job);

  const MiningGraph& graph() const { return *graph_; }
  RegionId region() const { return region_.id(); }
  std::span<Value> own() const {
    return {reinterpret_cast<Value*>(region_.memory().data()),
            region_.memory().size() / sizeof(Value)};
  }
  // The values of an own list.
  Values own(VertexId v) const {
    const CompactOffsets::Arcs arcs = graph_->FindArcs(v);
    return own().subspan(arcs.begin, arcs.length);
  }
  // Calls visit(values) for all values of another home, some at a time.
  Status ReadPieces(Endpoint& endpoint, NodeId home,
                    const std::function<void(Values)>& visit) const;

 private:
  ArcValues(const MiningGraph& graph, JobRegions::Lease region)
      : graph_(&graph), region_(std::move(region)) {}
  const MiningGraph* graph_;
  JobRegions::Lease region_;
};

// Fetches the values of a set of lists for one thread. Lists of this node are not copied.
class ArcReader {
 public:
  // The lists of other nodes may have `room` values together.
  ArcReader(const ArcValues& values, Endpoint& endpoint, std::uint64_t room)
      : values_(values), endpoint_(endpoint), room_(room) {}

  // The memory that a reader takes for lists with this many values, without the list of lists.
  static std::uint64_t Bytes(const MiningGraph& graph, std::uint64_t room) {
    return std::min(room, graph.remote_arcs()) * sizeof(ArcValues::Value);
  }
  static constexpr std::uint64_t kBytesPerList = 40;

  std::size_t size() const { return lists_.size(); }
  bool HasRoomFor(VertexId v) const {
    const MiningGraph& graph = values_.graph();
    return graph.is_own(v) || filled_ + graph.degree(v) <= room_;
  }
  // Get(i) returns the values of the i-th list after the next Fetch().
  void Add(VertexId v);
  Status Fetch();
  ArcValues::Values Get(std::size_t i) const {
    const auto& [v, begin] = lists_[i];
    if (values_.graph().is_own(v)) return values_.own(v);
    return {memory_.get() + begin, values_.graph().degree(v)};
  }
  void Clear();

 private:
  struct Wanted {
    VertexId v;
    std::uint64_t begin;  // in memory_
  };
  struct Read {
    NodeId home;
    EdgeOffset first;  // in the home's values
    std::uint64_t count;
  };
  const ArcValues& values_;
  Endpoint& endpoint_;
  std::uint64_t room_;
  std::uint64_t filled_ = 0;
  std::vector<Wanted> lists_;
  std::vector<Read> reads_;
  std::unique_ptr<ArcValues::Value[]> memory_;
  std::uint64_t capacity_ = 0;
};

// Keeps one thread's new values until it writes them all.
class ArcWriter {
 public:
  ArcWriter(const ArcValues& values, Endpoint& endpoint, std::size_t room)
      : values_(values), endpoint_(endpoint), room_(room) {
    changes_.reserve(room);
  }
  static std::uint64_t Bytes(std::size_t room) {
    return room * (sizeof(Change) + sizeof(ArcValues::Value));
  }

  bool HasRoomFor(std::size_t values) const { return changes_.size() + values <= room_; }
  // The new value of the i-th entry of v's list.
  void Add(VertexId v, std::size_t i, ArcValues::Value value);
  Status WriteAll();

 private:
  struct Change {
    NodeId home;
    ArcValues::Value value;
    EdgeOffset at;
  };
  void WriteRun(std::size_t first, std::size_t last);

  const ArcValues& values_;
  Endpoint& endpoint_;
  std::size_t room_;
  std::vector<Change> changes_;
  std::vector<ArcValues::Value> packed_;
};

}  // namespace slimgraph::dkudu
