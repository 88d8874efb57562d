#include "txnlayer/disk/apply_changes.h"

#include <algorithm>
#include <unordered_map>

#include "txnlayer/disk/apply.h"
#include "txnlayer/disk/internal/vertex_set.h"
#include "txnlayer/graph_model/hybrid_clock.h"

namespace slimgraph::txn {
namespace {

// The updates in the store's log after a given time.
class LaterUpdates {
 public:
  LaterUpdates(const Store& store, GraphTime from) : shape_(store.shape()) {
    Update update;
    for (const Batch& batch : store.log().batches()) {
      if (batch.time <= from) continue;
      for (auto rest = batch.words; TakeUpdate(shape_, rest, update);) Take(update, batch.time);
    }
  }

  bool Overwrites(const LastChanges::Vertex& change) const {
    return TimeIn(vertices_, change.name) > change.time;
  }
  bool Overwrites(const LastChanges::Edge& change) const {
    return TimeIn(edges_, EdgeOf(change.one, change.other)) > change.time ||
           TimeIn(deleted_, change.one) > change.time ||
           TimeIn(deleted_, change.other) > change.time;
  }

 private:
  using Ends = std::pair<VertexName, VertexName>;
  struct HashOfEnds {
    std::size_t operator()(const Ends& ends) const { return Mix(Mix(ends.first) + ends.second); }
  };
  Ends EdgeOf(VertexName one, VertexName other) const {
    return shape_.directed ? Ends(one, other) : Ends(std::minmax(one, other));
  }
  void Take(const Update& update, GraphTime time) {
    if (!IsOfVertex(update.kind)) {
      edges_[EdgeOf(update.one, update.other)] = time;
      return;
    }
    vertices_[update.one] = time;
    if (update.kind == UpdateKind::kDeleteVertex) deleted_[update.one] = time;
  }
  // 0: there is no such update.
  template <typename Times, typename What>
  static GraphTime TimeIn(const Times& times, const What& what) {
    const auto found = times.find(what);
    return found == times.end() ? 0 : found->second;
  }

  const GraphShape shape_;
  std::unordered_map<VertexName, GraphTime> vertices_;  // time of the last update
  std::unordered_map<VertexName, GraphTime> deleted_;   // time of the last deletion
  std::unordered_map<Ends, GraphTime, HashOfEnds> edges_;
};

// Converts changes to updates and counts them.
class Updates {
 public:
  Updates(const Store& store, VertexSet vertices, GraphTime from)
      : later_(store, from), vertices_(std::move(vertices)) {}

  void Take(const LastChanges::Vertex& change) {
    if (later_.Overwrites(change)) {
      ++report_.left_out;
      return;
    }
    if (!change.alive && !vertices_.has(change.name)) return;
    const UpdateKind kind = change.alive ? UpdateKind::kAddVertex : UpdateKind::kDeleteVertex;
    const Update update{kind, change.name, 0, change.alive ? change.properties : Bytes()};
    vertices_.Take(update);
    AppendUpdate(update, words_);
    ++report_.vertices;
  }
  // Call after all vertices were taken.
  void Take(const LastChanges::Edge& change) {
    if (later_.Overwrites(change)) {
      ++report_.left_out;
      return;
    }
    // The edges of a deleted vertex are deleted with it.
    if (!vertices_.has(change.one) || !vertices_.has(change.other)) return;
    const UpdateKind kind = change.alive ? UpdateKind::kAddEdge : UpdateKind::kDeleteEdge;
    AppendUpdate({kind, change.one, change.other, change.alive ? change.properties : Bytes()},
                 words_);
    ++report_.edges;
  }

  const ChangesReport& report() const { return report_; }
  std::span<const std::uint64_t> words() const { return words_; }

 private:
  const LaterUpdates later_;
  VertexSet vertices_;
  ChangesReport report_;
  std::vector<std::uint64_t> words_;
};

struct TimeRange {
  GraphTime first = kTimeLast;
  GraphTime last = 0;
};

// Sets the time by which each change is ordered among the updates. No change is older than the base
// on which it was made.
TimeRange SetTimes(LastChanges& changes, const ChangesToApply& what) {
  TimeRange range;
  const auto set = [&](GraphTime& time) {
    range.last = std::max(range.last, time);
    time = what.come_last ? kTimeLast : std::max(time, what.base_time + 1);
    range.first = std::min(range.first, time);
  };
  for (LastChanges::Vertex& change : changes.vertices) set(change.time);
  for (LastChanges::Edge& change : changes.edges) set(change.time);
  return range;
}

}  // namespace

Result<ChangesReport> ApplyChanges(Store& store, const ChangesToApply& what,
                                   const std::function<Result<LastChanges>()>& changes) {
  Store::Applying given;
  given.file = what.from;
  given.contents = what.contents;
  given.batch_id = (what.contents | 2) & ~std::uint64_t{1};  // the ids of files are odd
  given.log_before = store.log().whole_bytes();
  std::string abandoned;
  SLIM_ASSIGN(std::uint64_t done, ResolveInterrupted(store, given, false, abandoned));
  ChangesReport report;
  if (done > 0) {
    SLIM_TRY(store.EndApplying(true));
  } else if (!store.AppliedAs(given.batch_id)) {
    SLIM_ASSIGN(LastChanges last, changes());
    const TimeRange times = SetTimes(last, what);
    if (times.first <= store.kept_from()) {
      return InputError(
          "{}: updates later than the commits in {} have been folded into it, so their order is "
          "lost: `store apply {} --durable {} --come-last` applies the commits after all updates",
          store.path(), what.from, store.path(), what.from);
    }
    SLIM_ASSIGN(VertexSet vertices, VertexSet::Of(store));
    Updates updates(store, std::move(vertices), times.first);
    for (const auto& change : last.vertices) updates.Take(change);
    for (const auto& change : last.edges) updates.Take(change);
    report = updates.report();
    given.lines = report.vertices + report.edges;
    SLIM_ASSIGN(UpdateLogWriter log,
                UpdateLogWriter::Open(store.log_path(), store.log().whole_bytes()));
    // Changes that have no effect now could have one after a later update, so they too are recorded
    // as applied.
    SLIM_TRY(store.BeginApplying(given));
    if (given.lines > 0) {
      report.time = HybridClock().Next(std::max(times.last, store.last()));
      SLIM_TRY(log.Append(report.time, {given.contents, given.lines}, updates.words()));
    }
    SLIM_TRY(store.EndApplying(true));
    SLIM_ASSIGN(report.folded, store.FoldIfLong());
    return report;
  }
  report.before = true;
  return report;
}

}  // namespace slimgraph::txn
