#include "txnlayer/graph/base_reader.h"

#include <algorithm>

#include "txnlayer/graph/sparse_times.h"

namespace slimgraph::txn {
namespace {

// What is read at once when a neighbour is looked for.
constexpr EdgeOffset kWindow = 256;

}  // namespace

bool BaseReader::Here(const BaseGraph::Vertex& vertex) const {
  return graph_.engine().view().Primary(vertex.partition) == graph_.engine().self();
}

bool BaseReader::Read(const BaseGraph::Vertex& vertex, RegionId BaseGraph::Regions::*which,
                      std::uint64_t offset, std::uint64_t bytes, std::vector<std::byte>& room,
                      Bytes& found) {
  Engine& engine = graph_.engine();
  const View& view = engine.view();
  const NodeId holder = view.Primary(vertex.partition);
  const RegionId region = graph_.base().regions(view.RankAt(holder, vertex.partition)).*which;
  if (holder == engine.self()) {
    found = Bytes(engine.cluster().fabric().own_region(region)).subspan(offset, bytes);
    return true;
  }
  room.resize(std::max<std::size_t>(room.size(), bytes));
  found = Bytes(room).first(bytes);
  if (bytes == 0) return true;
  Task& task = transaction_.task();
  Endpoint& endpoint = task.worker().endpoint();
  endpoint.SetStage(TrafficStage(Stage::kRead));
  Pending pending;
  endpoint.Read(holder, region, offset, MutableBytes(room).first(bytes),
                task.worker().Tag(pending));
  task.Await(pending);
  return !pending.lost && !engine.changing() && !task.worker().failed();
}

bool BaseReader::List(const BaseGraph::Vertex& vertex, std::span<const VertexId>& list) {
  Bytes found;
  if (!Read(vertex, &BaseGraph::Regions::lists, vertex.begin * sizeof(VertexId),
            vertex.length * sizeof(VertexId), list_room_, found)) {
    return false;
  }
  list = {reinterpret_cast<const VertexId*>(found.data()), vertex.length};
  return true;
}

bool BaseReader::EdgeProperties(const BaseGraph::Vertex& vertex, EdgeOffset first, EdgeOffset count,
                                Bytes& properties) {
  properties = {};
  if (!graph_.base().has_edge_properties()) return true;
  const std::uint64_t each = graph_.shape().edge_bytes;
  return Read(vertex, &BaseGraph::Regions::edge_properties, (vertex.begin + first) * each,
              count * each, property_room_, properties);
}

bool BaseReader::EdgeTimes(const BaseGraph::Vertex& vertex, EdgeOffset first, EdgeOffset count,
                           std::span<const GraphTime>& times) {
  times = {};
  if (!graph_.base().has_edge_times() || count == 0) return true;
  const TimeRange range(vertex.begin + first, count);
  Bytes found;
  if (!Read(vertex, &BaseGraph::Regions::time_marks, range.first_block * sizeof(TimeMarks),
            range.blocks * sizeof(TimeMarks), mark_room_, found)) {
    return false;
  }
  const auto* const marks = reinterpret_cast<const TimeMarks*>(found.data());
  if (range.Times(marks) == 0) return true;
  if (!Read(vertex, &BaseGraph::Regions::edge_times, range.FirstTime(marks) * sizeof(GraphTime),
            range.Times(marks) * sizeof(GraphTime), known_room_, found)) {
    return false;
  }
  times_.resize(count);
  range.Expand(marks, reinterpret_cast<const GraphTime*>(found.data()), times_.data());
  times = times_;
  return true;
}

bool BaseReader::VertexProperties(const BaseGraph::Vertex& vertex, Bytes& properties) {
  properties = {};
  if (!graph_.base().has_vertex_properties()) return true;
  const std::uint64_t each = graph_.shape().vertex_bytes;
  return Read(vertex, &BaseGraph::Regions::vertex_properties, vertex.local * each, each,
              property_room_, properties);
}

bool BaseReader::Neighbour(const BaseGraph::Vertex& vertex, EdgeOffset place, VertexId& neighbour) {
  Bytes found;
  if (!Read(vertex, &BaseGraph::Regions::lists, (vertex.begin + place) * sizeof(VertexId),
            sizeof(VertexId), list_room_, found)) {
    return false;
  }
  std::memcpy(&neighbour, found.data(), sizeof neighbour);
  return true;
}

bool BaseReader::Find(const BaseGraph::Vertex& vertex, VertexId neighbour,
                      std::optional<EdgeOffset>& place) {
  place = std::nullopt;
  EdgeOffset begin = 0;
  EdgeOffset end = vertex.length;
  const auto read = [&](EdgeOffset first, EdgeOffset count, std::span<const VertexId>& ids) {
    Bytes found;
    if (!Read(vertex, &BaseGraph::Regions::lists, (vertex.begin + first) * sizeof(VertexId),
              count * sizeof(VertexId), list_room_, found)) {
      return false;
    }
    ids = {reinterpret_cast<const VertexId*>(found.data()), count};
    return true;
  };
  std::span<const VertexId> ids;
  while (end - begin > kWindow && !Here(vertex)) {
    const EdgeOffset middle = begin + (end - begin) / 2;
    if (!read(middle, 1, ids)) return false;
    if (ids[0] <= neighbour) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  if (!read(begin, end - begin, ids)) return false;
  const auto at = std::lower_bound(ids.begin(), ids.end(), neighbour);
  if (at != ids.end() && *at == neighbour) {
    place = begin + static_cast<EdgeOffset>(at - ids.begin());
  }
  return true;
}

const BaseGraph::Vertex& BaseReader::Nearer(const BaseGraph::Vertex& one,
                                            const BaseGraph::Vertex& other) const {
  if (Here(one) != Here(other)) return Here(one) ? one : other;
  return one.length <= other.length ? one : other;
}

}  // namespace slimgraph::txn
