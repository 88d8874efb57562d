// `slimgraph store create|apply|export`.
#include "apps/commands.h"

#include <memory>

#include "apps/job/job_runner.h"
#include "apps/output/graph_output.h"
#include "apps/print.h"
#include "apps/store/store_dates.h"
#include "apps/store/store_indexes.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "slimgraph/stats/report.h"
#include "txnlayer/disk/apply.h"
#include "txnlayer/disk/merge.h"
#include "txnlayer/graph/apply_commits.h"

namespace slimgraph {
namespace {

int PrintReport(Report& report) {
  SetOptions(report);
  return Print(ToJson(report) + "\n");
}

std::string FormatSummary(const txn::ApplyOptions& options, const txn::ApplyReport& done) {
  std::string text;
  if (!done.abandoned.empty()) text += fmt::format("{}: abandoned\n", done.abandoned);
  if (options.updates.empty()) {
    return text.empty() ? fmt::format("{}: no file was interrupted\n", options.store) : text;
  }
  if (done.lines_before == done.lines && done.lines > 0) {
    return text + fmt::format("{}: all {} lines were applied before; nothing to do\n",
                              options.updates, FormatCount(done.lines));
  }
  if (done.same_at != 0) {
    text += fmt::format("{}: the last batch of {}, at time {}, was of this file already\n",
                        options.updates, options.store, TimeWithDate(done.same_at));
  }
  const double rate = done.seconds > 0 ? static_cast<double>(done.updates) / done.seconds : 0;
  if (done.lines_before > 0) {
    text += fmt::format("{}: continued after line {}\n", options.updates, done.lines_before);
  }
  text +=
      fmt::format("{}: {} updates in {} batches, in {}, {} per second; at time {}\n", options.store,
                  FormatCount(done.updates), FormatCount(done.batches), FormatSeconds(done.seconds),
                  FormatCount(static_cast<std::uint64_t>(rate)), TimeWithDate(done.time));
  if (done.folded) {
    text += fmt::format("  folded: history starts at time {}\n", TimeWithDate(done.kept_from));
  }
  return text;
}

std::string FormatSummary(const txn::CommitsToApply& what, const txn::ChangesReport& done) {
  if (done.before) {
    return fmt::format("{}: {} has all of its commits already; nothing to do\n", what.folder,
                       what.store);
  }
  std::string text =
      fmt::format("{}: the commits of {} have changed {} vertices and {} edges", what.store,
                  what.folder, FormatCount(done.vertices), FormatCount(done.edges));
  if (done.time != 0) text += fmt::format("; at time {}", TimeWithDate(done.time));
  text += "\n";
  if (done.left_out > 0) {
    text += fmt::format("  left out: {} changes that later updates have overwritten\n",
                        FormatCount(done.left_out));
  }
  if (done.folded) {
    text += fmt::format("  folded: history starts at time {}\n", TimeWithDate(done.time));
  }
  return text;
}

// `store apply --durable`.
int RunApplyCommits(const txn::CommitsToApply& what, bool json) {
  const std::uint64_t start_ns = NowNs();
  const auto done = txn::ApplyCommits(what);
  if (!done) return PrintError(done.error());
  if (!json) return Print(FormatSummary(what, *done));
  Report report("store apply");
  report.Set("/result/before", done->before);
  report.Set("/result/vertices", done->vertices);
  report.Set("/result/edges", done->edges);
  report.Set("/result/left_out", done->left_out);
  report.Set("/result/time", done->time);
  report.Set("/result/date", DateOf(done->time));
  report.Set("/result/folded", done->folded);
  report.Set("/time/run_s", SecondsSince(start_ns));
  return PrintReport(report);
}

struct ExportState {
  std::string store;
  std::string out;
  std::optional<txn::GraphTime> at;
  bool json = false;
};

Result<txn::Merged> Export(const ExportState& state, const std::string& out, txn::GraphTime& at) {
  SLIM_ASSIGN(const txn::Store store, txn::Store::Open(state.store, txn::Store::Use::kRead));
  at = state.at.value_or(store.last());
  if (at < store.kept_from()) {
    return InputError("{}: its history starts at time {}; --at {} is before that", state.store,
                      TimeWithDate(store.kept_from()), TimeWithDate(at));
  }
  return txn::Merge(store.base(), store.shape(), store.log().batches(), at, out, "");
}

}  // namespace

Command StoreCreateCommand() {
  struct State {
    std::string graph;
    std::string out;
    bool empty = false;
    txn::GraphShape shape;
    std::vector<txn::PropertyIndex> indexes;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    Option& graph =
        options.OptionalPositional("GRAPH", "the .slim file to begin with", state->graph);
    Option& empty = options.Flag("--empty", "begin without vertices instead", state->empty);
    options.RequireOne(graph, empty);
    // Only with --empty: a .slim file already tells direction and weights.
    options
        .Flag("--directed", "edges lead from their first vertex to their second",
              state->shape.directed)
        .Needs(empty);
    options
        .Choice("--weights", "the type of the edges' weights",
                {"none", "int32", "int64", "float32", "float64"}, state->shape.weights)
        .Needs(empty);
    options.Number("--vertex-bytes", "N", "bytes of properties for each vertex, 0..256",
                   state->shape.vertex_bytes);
    options.Number("--edge-bytes", "N",
                   "bytes of properties for each edge besides its weight, 0..256",
                   state->shape.edge_bytes);
    DeclareIndexes(options, "--index", state->indexes);
    options
        .Text("-o,--output", "STORE", "the folder to make; appears when it is complete", state->out)
        .Required();
  };
  const auto run = [state](const std::vector<std::string>&) {
    const Status made = txn::Store::Create(state->out, state->graph, state->shape, state->indexes);
    if (!made) return PrintError(made.error());
    return Print(
        fmt::format("{}: a store of {}, with {} bytes for each vertex and {} for each edge{}\n",
                    state->out, state->empty ? "an empty graph" : state->graph,
                    state->shape.vertex_bytes, state->shape.edge_bytes,
                    state->indexes.empty() ? "" : "; " + IndexesInWords(state->indexes)));
  };
  return {"store create", "make a graph that can be updated, on disk", declare, run};
}

Command StoreApplyCommand() {
  struct State {
    txn::ApplyOptions options;
    txn::CommitsToApply commits;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("STORE", "the store", state->options.store);
    Option& from = options.Text("--from", "UPDATES",
                                "the file of updates, one a line: + u v [weight] [props], - u v, "
                                "+v id [props], -v id; properties in hexadecimal",
                                state->options.updates);
    options.Number("--batch", "B", "updates that become durable together", state->options.batch)
        .Needs(from);
    options
        .Text("--batch-id", "ID",
              "a name that you choose: a file with it is applied only once, even if given again",
              state->options.batch_id)
        .Default("none")
        .Needs(from);
    Option& abandon = options.Flag(
        "--abandon", "do not continue the file that was interrupted; then apply --from, if given",
        state->options.abandon);
    Option& durable = options
                          .Text("--durable", "DIR",
                                "instead of a file: the commits of `txn run --durable DIR` on the "
                                "store; applied only once, even if given again",
                                state->commits.folder)
                          .Excludes(from)
                          .Excludes(abandon);
    options.RequireAny({&from, &abandon, &durable});
    options
        .Flag("--come-last", "treat the commits as later than all updates of the store",
              state->commits.come_last)
        .Needs(durable);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    if (!state->commits.folder.empty()) {
      state->commits.store = state->options.store;
      return RunApplyCommits(state->commits, state->json);
    }
    state->options.progress = ShowProgress("lines applied");
    const auto done = txn::Apply(state->options);
    if (!done) return PrintError(done.error());
    if (!state->json) return Print(FormatSummary(state->options, *done));
    Report report("store apply");
    report.Set("/result/updates", done->updates);
    report.Set("/result/lines", done->lines);
    report.Set("/result/lines_before", done->lines_before);
    report.Set("/result/abandoned", done->abandoned);
    report.Set("/result/same_at", done->same_at);
    report.Set("/result/batches", done->batches);
    report.Set("/result/time", done->time);
    report.Set("/result/date", DateOf(done->time));
    report.Set("/result/kept_from", done->kept_from);
    report.Set("/result/folded", done->folded);
    report.Set("/time/run_s", done->seconds);
    return PrintReport(report);
  };
  return {"store apply", "update a store from a file or from the commits of transactions", declare,
          run};
}

Command StoreExportCommand() {
  const auto state = std::make_shared<ExportState>();
  const auto declare = [state](Options& options) {
    options.Positional("STORE", "the store", state->store);
    options
        .Value("--at", "TIME|DATE",
               "the graph as of that time: the digits or the date that store apply prints, or any "
               "date such as 2026-11-24T11:45Z (UTC)",
               [state](const std::string& text) -> Status {
                 SLIM_ASSIGN(state->at, ParseStoreTime(text));
                 return {};
               })
        .Default("the last update");
    options
        .Text("-o,--output", "FILE",
              "the .slim file to write; appears when it is complete; -: standard output",
              state->out)
        .Required();
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto output = GraphOutput::Create(state->out, state->json);
    if (!output) return PrintError(output.error());
    txn::GraphTime at = 0;
    const auto done = Export(*state, output->path(), at);
    if (!done) return PrintError(done.error());
    if (const Status finished = output->Finish(); !finished) return PrintError(finished.error());
    if (!state->json) {
      return PrintAbout(
          *output,
          fmt::format("{}: {} vertices, {} edges, as of time {}\n",
                      output->is_standard_output() ? "standard output" : state->out,
                      FormatCount(done->vertices), FormatCount(done->edges), TimeWithDate(at)));
    }
    Report report("store export");
    report.Set("/graph/path", state->out);
    report.Set("/graph/vertices", done->vertices);
    report.Set("/graph/edges", done->edges);
    report.Set("/result/time", at);
    report.Set("/result/date", DateOf(at));
    return PrintReport(report);
  };
  return {"store export", "write a store's graph as a .slim file", declare, run};
}

}  // namespace slimgraph
