#include "txnlayer/graph/vertex_indexes.h"

#include <algorithm>

#include "slimgraph/cluster/gather.h"
#include "txnlayer/graph/transactional_graph.h"

namespace slimgraph::txn {
namespace {

// Collective. `mine`: the vertices whose records are here. Returns, sorted, those with a record
// that are in the partitions of the base for which this node is the primary.
Result<std::vector<VertexName>> WrittenOfMyPartitions(TransactionalGraph& graph,
                                                      std::span<const VertexName> mine) {
  const BaseGraph& base = graph.base();
  const View& view = graph.engine().view();
  Cluster& cluster = graph.engine().cluster();
  std::vector<std::vector<VertexName>> to_node(cluster.topology().nodes());
  for (const VertexName name : mine) {
    const auto dense = base.DenseOf(SideOf(graph.shape(), name, Direction::kOut));
    if (!dense) continue;
    to_node[view.Primary(base.PropertyVertexOf({.dense = *dense}).partition)].push_back(name);
  }
  SLIM_ASSIGN(std::vector<VertexName> written, SendToEach(cluster.all(), std::move(to_node)));
  std::sort(written.begin(), written.end());
  return written;
}

// Visits the vertices that are alive and whose record was never written, in the partitions of the
// base for which this node is the primary: visit(name, properties). `written`: see above.
template <typename Visit>
void ForEachOfBase(TransactionalGraph& graph, std::span<const VertexName> written, Visit visit) {
  const BaseGraph& base = graph.base();
  const GraphShape& shape = graph.shape();
  const View& view = graph.engine().view();
  const NodeId self = graph.engine().self();
  const std::vector<std::byte> zeros(shape.vertex_bytes);
  const std::size_t sides = DirectionsOf(shape).size();
  for (VertexId dense = 0; dense < base.vertices(); dense += static_cast<VertexId>(sides)) {
    const BaseGraph::Vertex carrier = base.PropertyVertexOf({.dense = dense});
    if (view.Primary(carrier.partition) != self || !base.alive(dense)) continue;
    const VertexName name = VertexOfSide(shape, base.NameOf(dense));
    if (std::binary_search(written.begin(), written.end(), name)) continue;
    Bytes properties = zeros;
    if (base.has_vertex_properties()) {
      const Rank rank = view.RankAt(self, carrier.partition);
      properties =
          Bytes(graph.engine().cluster().fabric().own_region(base.regions(rank).vertex_properties))
              .subspan(std::size_t{carrier.local} * shape.vertex_bytes, shape.vertex_bytes);
    }
    visit(name, properties);
  }
}

}  // namespace

Result<VertexIndexes> VertexIndexes::Make(Engine& engine, std::span<const PropertyIndex> properties,
                                          std::uint64_t vertices) {
  VertexIndexes indexes;
  for (const PropertyIndex& property : properties) {
    SLIM_ASSIGN(auto keys,
                OrderedTable::Make(
                    engine, {.name = "index " + property.name,
                             .record_bytes = 0,
                             .keys_per_node = vertices / engine.cluster().topology().nodes() + 1,
                             .derived = true}));
    indexes.indexes_.push_back({property, std::move(keys)});
  }
  return indexes;
}

const VertexIndexes::Index* VertexIndexes::Find(const std::string& name) const {
  const auto same = [&](const Index& index) { return index.property.name == name; };
  const auto found = std::find_if(indexes_.begin(), indexes_.end(), same);
  return found == indexes_.end() ? nullptr : &*found;
}

// Collective. By index. Each vertex is at one node: where its record is, if it has one, and
// otherwise where the base has it.
Result<std::vector<std::vector<Key>>> VertexIndexes::KeysOfMyVertices(
    TransactionalGraph& graph) const {
  std::vector<std::vector<Key>> keys(indexes_.size());
  const auto add = [&](VertexName name, Bytes properties) {
    for (std::size_t i = 0; i < indexes_.size(); ++i) {
      keys[i].push_back(indexes_[i].KeyOf(name, properties));
    }
  };
  std::vector<VertexName> mine;
  graph.engine().tables().ForEachRecord(graph.vertices(), [&](Key key, const std::byte* record) {
    if (record == nullptr) return;
    const VertexName name = VertexOfSide(graph.shape(), VertexOfKey(key));
    mine.push_back(name);
    VertexRecord vertex;
    std::memcpy(&vertex, record, sizeof vertex);
    if (vertex.alive != 0) add(name, {record + sizeof vertex, graph.shape().vertex_bytes});
  });
  SLIM_ASSIGN(const auto written, WrittenOfMyPartitions(graph, mine));
  ForEachOfBase(graph, written, add);
  return keys;
}

Status VertexIndexes::Fill(TransactionalGraph& graph) {
  if (indexes_.empty()) return {};
  SLIM_ASSIGN(auto mine, KeysOfMyVertices(graph));
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    SLIM_TRY(indexes_[i].keys->Load(std::move(mine[i])));
  }
  return {};
}

Status VertexIndexes::Check(TransactionalGraph& graph) const {
  if (indexes_.empty()) return {};
  SLIM_ASSIGN(const auto mine, KeysOfMyVertices(graph));
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    SLIM_ASSIGN(const KeyDigest there, indexes_[i].keys->Check());
    KeyDigest wanted;
    for (const Key key : mine[i]) wanted.Add(key);
    std::uint64_t sums[] = {wanted.keys, wanted.sum};
    SLIM_TRY(
        graph.engine().cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
    if (there.keys == sums[0] && there.sum == sums[1]) continue;
    return VerificationError("index {} has {} keys, which are not those of the {} vertices",
                             indexes_[i].property.name, there.keys, sums[0]);
  }
  return {};
}

}  // namespace slimgraph::txn
