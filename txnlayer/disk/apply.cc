#include "txnlayer/disk/apply.h"

#include <xxhash.h>

#include "slimgraph/base/clock.h"
#include "txnlayer/disk/internal/vertex_set.h"
#include "txnlayer/graph_model/hybrid_clock.h"

namespace slimgraph::txn {
namespace {

// Calls take(update, lines) for the updates after the first `skipped` lines. Returns the number of
// lines.
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

// The time of the store's last batch if that was of a file with these contents, otherwise 0.
GraphTime TimeIfLast(const Store& store, std::uint64_t contents) {
  const auto& batches = store.log().batches();
  if (batches.empty() || batches.back().progress.identity != contents) return 0;
  return batches.back().time;
}

// Never 0 for a batch id; 0 stands for no batch id.
std::uint64_t HashOf(const std::string& batch_id) {
  return batch_id.empty() ? 0 : XXH3_64bits(batch_id.data(), batch_id.size()) | 1;
}

}  // namespace

Result<std::uint64_t> ResolveInterrupted(Store& store, const Store::Applying& given, bool abandon,
                                         std::string& abandoned) {
  if (!store.applying()) return 0;
  const Store::Applying was = *store.applying();
  const auto far = [&] { return fmt::format("line {} of {}", was.done, was.lines); };
  // False if the process was killed before the first batch or after the last: then no batch is
  // missing.
  const bool is_part = was.done > 0 && !was.complete();
  const bool same = was.contents == given.contents && was.batch_id == given.batch_id;
  if (same && !(abandon && is_part)) return was.done;
  if (is_part && !abandon) {
    return InputError(
        "{}: {} was interrupted behind {}: apply the same file again to continue, or give "
        "--abandon to leave it incomplete",
        store.path(), was.file, far());
  }
  if (is_part) abandoned = fmt::format("{}, behind {}", was.file, far());
  SLIM_TRY(store.EndApplying(was.complete()));
  return 0;
}

Result<ApplyReport> Apply(const ApplyOptions& options) {
  if (options.batch == 0) return UsageError("--batch 0: a batch has at least one line");
  const std::uint64_t start_ns = NowNs();
  SLIM_ASSIGN(Store store, Store::Open(options.store, Store::Use::kWrite));
  const GraphShape shape = store.shape();
  ApplyReport report;
  report.time = store.last();
  report.kept_from = store.kept_from();
  Store::Applying given;
  given.file = options.updates;
  given.batch_id = HashOf(options.batch_id);
  given.log_before = store.log().whole_bytes();
  if (!options.updates.empty()) {
    SLIM_ASSIGN(given.contents, IdentityOf(options.updates));
  }
  SLIM_ASSIGN(report.lines_before,
              ResolveInterrupted(store, given, options.abandon, report.abandoned));
  if (options.updates.empty()) return report;
  if (const auto contents = store.AppliedAs(given.batch_id); contents && !store.applying()) {
    if (*contents != given.contents) {
      return InputError("{}: batch id {} belongs to a file other than {}: each needs its own",
                        options.store, options.batch_id, options.updates);
    }
    report.lines_before = ~std::uint64_t{0};
  }
  if (report.lines_before == 0 && report.abandoned.empty()) {
    report.same_at = TimeIfLast(store, given.contents);
  }
  SLIM_ASSIGN(VertexSet vertices, VertexSet::Of(store));
  auto checked = ForEachUpdate(options.updates, shape, report.lines_before,
                               [&](const Update& update, const UpdateLines& lines) {
                                 return CheckNames(update, lines, vertices);
                               });
  if (!checked && report.same_at != 0) {
    return InputError("{}; the last batch of {}, at time {}, was of this file already",
                      checked.error().message, options.store, report.same_at);
  }
  SLIM_ASSIGN(report.lines, std::move(checked));
  report.lines_before = std::min(report.lines_before, report.lines);
  SLIM_ASSIGN(UpdateLogWriter log,
              UpdateLogWriter::Open(store.log_path(), store.log().whole_bytes()));
  HybridClock clock;
  std::vector<std::uint64_t> words;
  std::uint64_t in_batch = 0;
  const auto append = [&](std::uint64_t lines) -> Status {
    report.time = clock.Next(report.time);
    SLIM_TRY(log.Append(report.time, {given.contents, lines}, words));
    words.clear();
    in_batch = 0;
    ++report.batches;
    if (options.progress) options.progress(lines, report.lines);
    return {};
  };
  if (report.lines > report.lines_before) {
    given.lines = report.lines;
    if (report.lines_before == 0) SLIM_TRY(store.BeginApplying(given));
    SLIM_TRY(ForEachUpdate(options.updates, shape, report.lines_before,
                           [&](const Update& update, const UpdateLines& lines) -> Status {
                             AppendUpdate(update, words);
                             ++report.updates;
                             return ++in_batch < options.batch ? Status() : append(lines.line());
                           }));
    SLIM_TRY(append(report.lines));
  }
  if (store.applying()) SLIM_TRY(store.EndApplying(true));
  SLIM_ASSIGN(report.folded, store.FoldIfLong());
  report.kept_from = store.kept_from();
  report.seconds = SecondsSince(start_ns);
  return report;
}

}  // namespace slimgraph::txn
