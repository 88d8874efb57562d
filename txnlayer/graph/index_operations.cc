// Operations on indexes of vertices.
#include <algorithm>
#include <limits>
#include <optional>

#include "txnlayer/graph/graph_transaction.h"

namespace slimgraph::txn {

// Before the vertex's record gets these properties, or becomes that of a vertex that is not alive.
// False: the transaction was aborted.
bool GraphTransaction::UpdateIndexes(const Access& access, bool alive, Bytes properties) {
  const VertexName vertex = VertexOfSide(graph_.shape(), VertexOfKey(access.key));
  const std::uint32_t bytes = graph_.shape().vertex_bytes;
  const bool was_alive = access.exists()
                             ? access.Get<VertexRecord>().alive != 0
                             : graph_.base().DenseOf(VertexOfKey(access.key)).has_value();
  properties_before_.resize(bytes);
  if (was_alive && !ReadProperties(access, properties_before_)) return false;
  properties_after_.assign(bytes, std::byte{0});
  std::copy(properties.begin(), properties.end(), properties_after_.begin());
  for (const VertexIndexes::Index& index : graph_.indexes().all()) {
    const Key before = index.KeyOf(vertex, properties_before_);
    const Key after = index.KeyOf(vertex, properties_after_);
    if (was_alive && alive && before == after) continue;
    if (was_alive && !index.keys->Erase(transaction_, steps_, before)) return false;
    if (alive && !index.keys->Insert(transaction_, steps_, after)) return false;
  }
  return true;
}

Answer GraphTransaction::FindVertices(const VertexIndexes::Index& index, const ValueRange& range,
                                      std::vector<VertexName>& found) {
  found.clear();
  const FieldType type = index.property.type;
  const auto codes = CodesOf(type, range);
  if (!codes) return Answer::kYes;
  if (!index.keys->Keys(transaction_, steps_, IndexKey(codes->first, 0),
                        IndexKey(codes->second, kMaxVertexName),
                        std::numeric_limits<std::size_t>::max(), index_keys_)) {
    return Answer::kAborted;
  }
  // Only the first and the last code may have values on both sides of a bound.
  const auto partly = [&](ValueCode code) {
    if (code != codes->first && code != codes->second) return false;
    const ValueRange values = ValuesOf(type, code);
    return !(range.Contains(values.first) && range.Contains(values.last));
  };
  const bool first_partly = partly(codes->first);
  const bool last_partly = partly(codes->second);
  wants_.clear();
  for (const Key key : index_keys_) {
    const VertexName vertex = VertexOfIndexKey(key);
    const ValueCode code = CodeOfKey(key);
    if ((code == codes->first && first_partly) || (code == codes->second && last_partly)) {
      const VertexName side = SideOf(vertex, Direction::kOut);
      wants_.push_back({&graph_.vertices(), VertexKey(side)});
    } else {
      found.push_back(vertex);
    }
  }
  found_.resize(wants_.size());
  if (!FetchTuples(wants_, found_.data())) return Answer::kAborted;
  std::vector<std::byte>& properties = properties_before_;
  properties.resize(graph_.shape().vertex_bytes);
  for (const Access* const access : found_) {
    if (access->exists()) Saw(access->Get<VertexRecord>().time);
    if (!ReadProperties(*access, properties)) return Answer::kAborted;
    if (!range.Contains(ValueOf(index.property, properties))) continue;
    found.push_back(VertexOfSide(graph_.shape(), VertexOfKey(access->key)));
  }
  std::sort(found.begin(), found.end());
  return Answer::kYes;
}

}  // namespace slimgraph::txn
