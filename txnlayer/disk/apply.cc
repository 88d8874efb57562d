#include "txnlayer/disk/apply.h"

#include "slimgraph/base/clock.h"
#include "txnlayer/graph/hybrid_clock.h"

namespace slimgraph::txn {
namespace {

// A log that is larger, and larger than the base, is folded into it.
constexpr std::uint64_t kMostLogBytes = 256 << 20;

// Which vertices there are, after the updates so far.
class VertexSet {
 public:
  explicit VertexSet(OriginalIds base) : base_(std::move(base)) {}

  bool has(VertexName name) const {
    if (!changed_.empty()) {
      const auto change = changed_.find(name);
      if (change != changed_.end()) return change->second;
    }
    return base_.Find(name).has_value();
  }
  void Take(const Update& update) {
    if (IsOfVertex(update.kind)) changed_[update.one] = update.kind == UpdateKind::kAddVertex;
  }

 private:
  OriginalIds base_;
  std::unordered_map<VertexName, bool> changed_;
};

Result<VertexSet> VerticesOf(const Store& store) {
  OriginalIds ids;
  if (store.base().file() != nullptr) {
    SLIM_ASSIGN(ids, store.base().file()->ReadOriginalIds());
  }
  VertexSet vertices(std::move(ids));
  Update update;
  for (const Batch& batch : store.log().batches()) {
    for (auto rest = batch.words; TakeUpdate(store.shape(), rest, update);) vertices.Take(update);
  }
  return vertices;
}

// The updates of a file behind the first `skipped` lines.
template <typename Take>
Result<std::uint64_t> ForEachUpdate(const std::string& path, const GraphShape& shape,
                                    std::uint64_t skipped, Take take) {
  SLIM_ASSIGN(UpdateLines lines, UpdateLines::Open(path, shape));
  Update update;
  while (true) {
    SLIM_ASSIGN(const bool more, lines.Next(update));
    if (!more) return lines.line();
    if (lines.line() > skipped) SLIM_TRY(take(update, lines));
  }
}

Status CheckNames(const Update& update, const UpdateLines& lines, VertexSet& vertices) {
  if (update.kind != UpdateKind::kAddVertex) {
    const bool first = vertices.has(update.one);
    if (!first || (!IsOfVertex(update.kind) && !vertices.has(update.other))) {
      return InputError("{}: there is no vertex {}", lines.Where(),
                        first ? update.other : update.one);
    }
  }
  vertices.Take(update);
  return {};
}

}  // namespace

Result<ApplyReport> Apply(const ApplyOptions& options) {
  if (options.batch == 0) return UsageError("--batch 0: a batch has a line at least");
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(Store store, Store::Open(options.store, Store::Use::kWrite));
  const GraphShape shape = store.shape();
  ApplyReport report;
  SLIM_ASSIGN(const std::uint64_t identity, IdentityOf(options.updates));
  const auto before = store.progress().find(identity);
  if (before != store.progress().end()) report.lines_before = before->second;
  SLIM_ASSIGN(VertexSet vertices, VerticesOf(store));
  SLIM_ASSIGN(report.lines, ForEachUpdate(options.updates, shape, report.lines_before,
                                          [&](const Update& update, const UpdateLines& lines) {
                                            return CheckNames(update, lines, vertices);
                                          }));
  SLIM_ASSIGN(UpdateLogWriter log,
              UpdateLogWriter::Open(store.log_path(), store.log().whole_bytes()));
  HybridClock clock;
  report.time = store.last();
  std::vector<std::uint64_t> words;
  std::uint64_t in_batch = 0;
  const auto append = [&](std::uint64_t lines) -> Status {
    report.time = clock.Next(report.time);
    SLIM_TRY(log.Append(report.time, {identity, lines}, words));
    words.clear();
    in_batch = 0;
    ++report.batches;
    if (options.progress) options.progress(lines, report.lines);
    return {};
  };
  SLIM_TRY(ForEachUpdate(options.updates, shape, report.lines_before,
                         [&](const Update& update, const UpdateLines& lines) -> Status {
                           AppendUpdate(update, words);
                           ++report.updates;
                           return ++in_batch < options.batch ? Status() : append(lines.line());
                         }));
  if (report.lines > report.lines_before) SLIM_TRY(append(report.lines));
  const SlimFile* const base = store.base().file();
  if (log.bytes() > std::max(kMostLogBytes, base == nullptr ? 0 : base->file_bytes())) {
    SLIM_TRY(store.Fold());
    report.folded = true;
  }
  report.kept_from = store.kept_from();
  report.seconds = SecondsSince(start_ns);
  return report;
}

}  // namespace slimgraph::txn
