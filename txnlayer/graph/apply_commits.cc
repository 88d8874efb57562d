#include "txnlayer/graph/apply_commits.h"

#include <unordered_map>

#include "slimgraph/base/folders.h"
#include "txnlayer/graph/internal/edge_block.h"
#include "txnlayer/graph/internal/fold_log.h"
#include "txnlayer/internal/durability/log_folder.h"
#include "txnlayer/internal/store/record.h"
#include "txnlayer/internal/store/tuple_view.h"

namespace slimgraph::txn {
namespace {

std::uint64_t VersionWords(std::uint32_t record_bytes) {
  return 1 + WholeWords(record_bytes) / kWordBytes;
}

// The last state of every edge and vertex in the logs. The result refers to the memory of the logs
// and of this object.
class LastStates {
 public:
  LastStates(const GraphShape& shape, const std::string& folder) : shape_(shape), folder_(folder) {}

  Status Take(const BatchLogReader& log);
  LastChanges Changes();

 private:
  // By key, the version of each record that was written last.
  using Versions = std::unordered_map<Key, const std::byte*>;

  void TakeBlock(VertexName side, const EdgeBlock& block);
  void AddVertices(std::vector<LastChanges::Vertex>& vertices) const;

  const GraphShape shape_;
  const std::string folder_;
  Versions versions_[kNumGraphTables];
  Folded folded_;
};

Status LastStates::Take(const BatchLogReader& log) {
  const std::uint64_t version_words[] = {VersionWords(VertexRecordBytes(shape_)),
                                         VersionWords(EdgeBlock::RecordBytes(shape_))};
  for (const auto& batch : log.batches()) {
    const auto part = static_cast<LogPart>(batch.label[0]);
    if (part == LogPart::kAside) SLIM_TRY(TakeFolded(batch.label[1], batch.words, shape_, folded_));
    if (part != LogPart::kRecords && part != LogPart::kCommits) continue;
    if (!AreRecords(batch.words, version_words)) {
      return InputError("{}: its logs have records that do not fit this store's graph", folder_);
    }
    for (auto rest = batch.words; !rest.empty(); rest = rest.subspan(1 + rest[0])) {
      ForEachWrite(rest.subspan(1, rest[0]), [&](TableId id, Key key, const std::byte* version) {
        const std::byte*& last = versions_[id].try_emplace(key, version).first->second;
        if (WordOfVersion(version) / kOneWrite >= WordOfVersion(last) / kOneWrite) last = version;
      });
    }
  }
  return {};
}

void LastStates::TakeBlock(VertexName side, const EdgeBlock& block) {
  if (block.kind() == BlockKind::kSplit) return;
  for (std::uint32_t i = 0; i < block.count(); ++i) {
    const EdgeEntry& entry = block.entry(i);
    EdgeChange& change =
        folded_.changes.edges.emplace_back(side, entry.neighbour, entry.alive != 0, entry.time);
    if (shape_.edge_bytes == 0) continue;
    std::vector<std::byte>& all = folded_.changes.properties;
    change.properties_index = all.size() / shape_.edge_bytes;
    const std::byte* const properties = block.properties(entry);
    all.insert(all.end(), properties, properties + shape_.edge_bytes);
  }
}

// A vertex record overrides what folds say: a fold leaves a record in the logs if the two differ.
void LastStates::AddVertices(std::vector<LastChanges::Vertex>& vertices) const {
  const Versions& records = versions_[kVertexTable];
  for (const auto& [key, version] : records) {
    const std::byte* const record = RecordOfVersion(version);
    if (record == nullptr) continue;
    VertexRecord vertex;
    std::memcpy(&vertex, record, sizeof vertex);
    vertices.push_back({VertexOfSide(shape_, VertexOfKey(key)), vertex.alive != 0, vertex.time,
                        Bytes(record + sizeof vertex, shape_.vertex_bytes)});
  }
  for (const FoldedVertex& vertex : folded_.vertices) {
    const VertexName name = VertexOfSide(shape_, vertex.name);
    const VertexName first = SideOf(shape_, name, Direction::kOut);
    if (vertex.name != first || records.contains(VertexKey(first))) continue;
    vertices.push_back({name, vertex.alive, vertex.time});
  }
}

LastChanges LastStates::Changes() {
  for (const auto& [key, version] : versions_[kBlockTable]) {
    const std::byte* const record = RecordOfVersion(version);
    if (record == nullptr) continue;
    TakeBlock(VertexOfKey(key), EdgeBlock(shape_, const_cast<std::byte*>(record)));
  }
  KeepLatest(folded_.vertices);
  KeepLatest(folded_.changes.edges);
  LastChanges changes;
  AddVertices(changes.vertices);
  for (const EdgeChange& edge : folded_.changes.edges) {
    // Both ends of an edge report it. Take it once.
    if (shape_.directed ? DirectionOf(shape_, edge.vertex()) == Direction::kIn
                        : edge.vertex() > edge.neighbour()) {
      continue;
    }
    changes.edges.push_back(
        {VertexOfSide(shape_, edge.vertex()), VertexOfSide(shape_, edge.neighbour()), edge.alive(),
         edge.time(),
         Bytes(folded_.changes.properties)
             .subspan(edge.properties_index * shape_.edge_bytes, shape_.edge_bytes)});
  }
  return changes;
}

Error WrongStoreError(const CommitsToApply& what, const LogSubject& subject, const Store& store) {
  const std::string of = subject.name.empty() ? "something else" : subject.name;
  if (subject.store == 0) {
    return {ErrorKind::kInput,
            fmt::format("{}: its commits, on {}, do not name their store: begin a run on that "
                        "store with --durable {}, then apply them",
                        what.folder, of, what.folder)};
  }
  return {ErrorKind::kInput,
          fmt::format("{}: its commits are on {} (store {:016x}), and {} is another (store "
                      "{:016x}): apply them to their own store",
                      what.folder, of, subject.store, what.store, store.id())};
}

}  // namespace

Result<ChangesReport> ApplyCommits(const CommitsToApply& what) {
  SLIM_ASSIGN(const UniqueFd lock, LockLogs(what.folder));
  SLIM_ASSIGN(Store store, Store::Open(what.store, Store::Use::kWrite));
  SLIM_ASSIGN(const auto subject, SubjectOfLogs(what.folder));
  if (!subject || subject->identity == 0) {
    ChangesReport nothing;
    nothing.before = true;
    return nothing;
  }
  if (subject->store != store.id()) return tl::unexpected(WrongStoreError(what, *subject, store));
  SLIM_ASSIGN(const LogsToRead logs, FindAllLogs(what.folder));
  LastStates states(store.shape(), what.folder);
  const auto changes = [&]() -> Result<LastChanges> {
    for (const BatchLogReader& log : logs.mine) SLIM_TRY(states.Take(log));
    return states.Changes();
  };
  SLIM_ASSIGN(const ChangesReport report, ApplyChanges(store,
                                                       {.from = what.folder,
                                                        .contents = HashOfContents(logs),
                                                        .base_time = subject->store_time,
                                                        .come_last = what.come_last},
                                                       changes));
  SLIM_TRY(BeginWithoutCommits(what.folder, logs));
  return report;
}

Result<std::optional<ChangesReport>> ApplyCommitsBefore(const std::string& store,
                                                        const std::string& folder) {
  SLIM_ASSIGN(const bool has_logs, IsFolder(folder));
  if (!has_logs) return std::nullopt;
  SLIM_ASSIGN(const auto subject, SubjectOfLogs(folder));
  if (!subject || subject->identity == 0 || subject->store == 0) return std::nullopt;
  {
    SLIM_ASSIGN(const Store now, Store::Open(store, Store::Use::kRead));
    if (subject->store != now.id() || subject->store_time == now.last()) return std::nullopt;
  }
  SLIM_ASSIGN(const ChangesReport report, ApplyCommits({store, folder}));
  return report;
}

}  // namespace slimgraph::txn
