#include "txnlayer/graph/internal/base_reader.h"

#include <algorithm>

namespace slimgraph::txn {
namespace {

// A search for a neighbour halves the range down to this many elements, which it reads at once.
constexpr EdgeOffset kWindow = 256;

}  // namespace

bool BaseReader::IsLocal(const BaseGraph::Vertex& vertex) const {
  return graph_.engine().tables().view().Primary(vertex.partition) == graph_.engine().self();
}

bool BaseReader::Read(const BaseGraph::Vertex& vertex, std::span<Part> parts) {
  Engine& engine = graph_.engine();
  const View& view = engine.tables().view();
  const NodeId holder = view.Primary(vertex.partition);
  const auto& regions = graph_.base().regions(view.RankAt(holder, vertex.partition));
  if (holder == engine.self()) {
    for (Part& part : parts) {
      if (part.bytes == 0) continue;  // the region may not exist
      part.found = Bytes(engine.cluster().fabric().own_region(regions.*part.which))
                       .subspan(part.offset, part.bytes);
    }
    return true;
  }
  Task& task = transaction_.task();
  Endpoint& endpoint = task.worker().endpoint();
  endpoint.SetStage(TrafficStage(Stage::kRead));
  for (Part& part : parts) {
    part.room.resize(std::max<std::size_t>(part.room.size(), part.bytes));
    part.found = Bytes(part.room).first(part.bytes);
  }
  if (!engine.options().base_one_sided && !transaction_.one_sided(Stage::kRead)) {
    for (Part& part : parts) {
      asked_.Add(regions.*part.which, part.offset, MutableBytes(part.room).first(part.bytes));
    }
    return asked_.Run(task, {holder, vertex.local % engine.cluster().threads()}) &&
           !engine.repairing();
  }
  Pending pending;
  for (Part& part : parts) {
    if (part.bytes == 0) continue;
    endpoint.Read(holder, regions.*part.which, part.offset,
                  MutableBytes(part.room).first(part.bytes), task.worker().Tag(pending));
  }
  task.Await(pending);
  return !pending.lost && !engine.repairing() && !task.worker().failed();
}

BaseReader::Part BaseReader::ListPart(const BaseGraph::Vertex& vertex, EdgeOffset first,
                                      EdgeOffset count) {
  return {&BaseGraph::Regions::lists, (vertex.begin + first) * sizeof(VertexId),
          count * sizeof(VertexId), list_room_};
}

BaseReader::Part BaseReader::MarksPart(const MarkRange& range) {
  return {&BaseGraph::Regions::edge_marks, range.first_block * sizeof(EdgeMarks),
          range.blocks * sizeof(EdgeMarks), mark_room_};
}

bool BaseReader::ReadRecords(const BaseGraph::Vertex& vertex, const MarkRange& range, Bytes marks,
                             std::span<const MarkedEdge>& marked) {
  const auto* const bits = reinterpret_cast<const EdgeMarks*>(marks.data());
  const std::uint64_t records = range.Records(bits);
  if (records == 0) return true;
  const std::uint64_t each = EdgeRecordBytes(graph_.shape());
  Part part{&BaseGraph::Regions::edge_records, range.FirstRecord(bits) * each, records * each,
            record_room_};
  if (!Read(vertex, part)) return false;
  marked_.clear();
  const std::byte* record = part.found.data();
  range.ForEach(bits, [&](EdgeOffset position) {
    marked_.push_back({position, record});
    record += each;
  });
  marked = marked_;
  return true;
}

bool BaseReader::ReadList(const BaseGraph::Vertex& vertex, std::span<const VertexId>& list) {
  Part part = ListPart(vertex, 0, vertex.length);
  if (!Read(vertex, part)) return false;
  list = {reinterpret_cast<const VertexId*>(part.found.data()), vertex.length};
  return true;
}

bool BaseReader::ReadList(const BaseGraph::Vertex& vertex, BaseEdges& list) {
  list = {};
  if (!graph_.base().has_marks()) return ReadList(vertex, list.ids);
  if (vertex.length == 0) return true;
  const MarkRange range(vertex.begin, vertex.length);
  Part parts[] = {ListPart(vertex, 0, vertex.length), MarksPart(range)};
  if (!Read(vertex, parts)) return false;
  list.ids = {reinterpret_cast<const VertexId*>(parts[0].found.data()), vertex.length};
  return ReadRecords(vertex, range, parts[1].found, list.marked);
}

bool BaseReader::ReadMark(const BaseGraph::Vertex& vertex, EdgeOffset position,
                          std::span<const MarkedEdge>& marked) {
  marked = {};
  if (!graph_.base().has_marks()) return true;
  const MarkRange range(vertex.begin + position, 1);
  Part marks = MarksPart(range);
  return Read(vertex, marks) && ReadRecords(vertex, range, marks.found, marked);
}

bool BaseReader::ReadVertexProperties(const BaseGraph::Vertex& vertex, Bytes& properties) {
  properties = {};
  if (!graph_.base().has_vertex_properties()) return true;
  const std::uint64_t each = graph_.shape().vertex_bytes;
  const BaseGraph::Vertex carrier = graph_.base().PropertyVertexOf(vertex);
  Part part{&BaseGraph::Regions::vertex_properties, carrier.local * each, each, property_room_};
  const bool well = Read(carrier, part);
  properties = part.found;
  return well;
}

bool BaseReader::ReadNeighbour(const BaseGraph::Vertex& vertex, EdgeOffset position,
                               VertexId& neighbour) {
  Part part = ListPart(vertex, position, 1);
  if (!Read(vertex, part)) return false;
  std::memcpy(&neighbour, part.found.data(), sizeof neighbour);
  return true;
}

bool BaseReader::FindNeighbour(const BaseGraph::Vertex& vertex, VertexId neighbour,
                               std::optional<EdgeOffset>& position) {
  position = std::nullopt;
  const DenseIdMap& names = graph_.base().ids();
  EdgeOffset begin = 0;
  EdgeOffset end = vertex.length;
  const auto read = [&](EdgeOffset first, EdgeOffset count, std::span<const VertexId>& ids) {
    Part part = ListPart(vertex, first, count);
    if (!Read(vertex, part)) return false;
    ids = {reinterpret_cast<const VertexId*>(part.found.data()), count};
    return true;
  };
  std::span<const VertexId> ids;
  while (end - begin > kWindow && !IsLocal(vertex)) {
    const EdgeOffset middle = begin + (end - begin) / 2;
    if (!read(middle, 1, ids)) return false;
    if (names.Before(neighbour, ids[0])) {
      end = middle;
    } else {
      begin = middle;
    }
  }
  if (!read(begin, end - begin, ids)) return false;
  const auto at =
      std::lower_bound(ids.begin(), ids.end(), neighbour,
                       [&](VertexId one, VertexId other) { return names.Before(one, other); });
  if (at != ids.end() && *at == neighbour) {
    position = begin + static_cast<EdgeOffset>(at - ids.begin());
  }
  return true;
}

const BaseGraph::Vertex& BaseReader::FasterToSearch(const BaseGraph::Vertex& one,
                                                    const BaseGraph::Vertex& other) const {
  if (IsLocal(one) != IsLocal(other)) return IsLocal(one) ? one : other;
  return one.length <= other.length ? one : other;
}

}  // namespace slimgraph::txn
