// `slimgraph store create|apply|export`.
#include "apps/store_commands.h"

#include <memory>

#include "apps/job_runner.h"
#include "apps/print.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "slimgraph/stats/report.h"
#include "txnlayer/disk/apply.h"
#include "txnlayer/disk/merge.h"

namespace slimgraph {
namespace {

int PrintReport(Report& report) {
  SetOptions(report);
  return Print(ToJson(report) + "\n");
}

std::string InWords(const txn::ApplyOptions& options, const txn::ApplyReport& done) {
  if (done.lines_before == done.lines && done.lines > 0) {
    return fmt::format("{}: all {} lines had been applied before; nothing to do\n", options.updates,
                       FormatCount(done.lines));
  }
  const double rate = done.seconds > 0 ? static_cast<double>(done.updates) / done.seconds : 0;
  std::string text;
  if (done.lines_before > 0) {
    text += fmt::format("{}: goes on behind line {}\n", options.updates, done.lines_before);
  }
  text +=
      fmt::format("{}: {} updates in {} batches, in {}, {} per second; at time {}\n", options.store,
                  FormatCount(done.updates), FormatCount(done.batches), FormatSeconds(done.seconds),
                  FormatCount(static_cast<std::uint64_t>(rate)), done.time);
  if (done.folded) text += fmt::format("  folded: kept from time {} on\n", done.kept_from);
  return text;
}

struct ExportState {
  std::string store;
  std::string out;
  std::optional<txn::GraphTime> at;
  bool json = false;
};

Result<txn::Merged> Export(const ExportState& state, txn::GraphTime& at) {
  SLIM_ASSIGN(const txn::Store store, txn::Store::Open(state.store, txn::Store::Use::kRead));
  at = state.at.value_or(store.last());
  if (at < store.kept_from()) {
    return InputError("{}: it is kept from time {} on; --at {} is before", state.store,
                      store.kept_from(), at);
  }
  return txn::Merge(store.base(), store.shape(), store.log().batches(), at, state.out, "");
}

}  // namespace

Command StoreCreateCommand() {
  struct State {
    std::string graph;
    std::string out;
    bool empty = false;
    txn::GraphShape shape;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.OptionalPositional("GRAPH", "the .slim file to begin with", state->graph);
    options.Flag("--empty", "begin without vertices instead", state->empty);
    options.Flag("--directed", "with --empty: edges go from their first vertex to their second",
                 state->shape.directed);
    options.Choice("--weights", "with --empty: edges have weights of that type",
                   {"none", "int32", "int64", "float32", "float64"}, state->shape.weights);
    options.Number("--vertex-bytes", "N", "of properties for each vertex, 0..256 (default 0)",
                   state->shape.vertex_bytes);
    options.Number("--edge-bytes", "N",
                   "of properties for each edge, beside its weight, 0..256 (default 0)",
                   state->shape.edge_bytes);
    options.Text("-o,--output", "STORE", "the folder to make; appears when it is complete",
                 state->out);
  };
  const auto run = [state](const std::vector<std::string>&) {
    if (state->out.empty()) {
      return Complain({ErrorKind::kUsage, "store create needs -o STORE: the folder to make"});
    }
    if (state->graph.empty() != state->empty) {
      return Complain({ErrorKind::kUsage, "store create needs either GRAPH.slim or --empty"});
    }
    const bool says = state->shape.directed || state->shape.weights != WeightType::kNone;
    if (says && !state->empty) {
      return Complain(
          {ErrorKind::kUsage,
           "--directed and --weights go with --empty: GRAPH.slim says by itself what it is"});
    }
    const Status made = txn::Store::Create(state->out, state->graph, state->shape);
    if (!made) return Complain(made.error());
    return Print(
        fmt::format("{}: a store of {}, with {} bytes for each vertex and {} for each edge\n",
                    state->out, state->empty ? "an empty graph" : state->graph,
                    state->shape.vertex_bytes, state->shape.edge_bytes));
  };
  return {"store create", "make a graph that can be updated, on disk", declare, run};
}

Command StoreApplyCommand() {
  struct State {
    txn::ApplyOptions options;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("STORE", "the store", state->options.store);
    options.Text("--from", "UPDATES",
                 "the file of updates, one a line: + u v [weight] [props], - u v, +v id [props], "
                 "-v id; properties in hexadecimal",
                 state->options.updates);
    options.Number("--batch", "B", "updates that become durable together (default 262144)",
                   state->options.batch);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    if (state->options.updates.empty()) {
      return Complain({ErrorKind::kUsage, "store apply needs --from UPDATES"});
    }
    state->options.progress = ShowProgress("lines applied");
    const auto done = txn::Apply(state->options);
    if (!done) return Complain(done.error());
    if (!state->json) return Print(InWords(state->options, *done));
    Report report("store apply");
    report.Set("/result/updates", done->updates);
    report.Set("/result/lines", done->lines);
    report.Set("/result/lines_before", done->lines_before);
    report.Set("/result/batches", done->batches);
    report.Set("/result/time", done->time);
    report.Set("/result/kept_from", done->kept_from);
    report.Set("/result/folded", done->folded);
    report.Set("/time/run_s", done->seconds);
    return PrintReport(report);
  };
  return {"store apply", "update a store from a file; goes on where it was broken off", declare,
          run};
}

Command StoreExportCommand() {
  const auto state = std::make_shared<ExportState>();
  const auto declare = [state](Options& options) {
    options.Positional("STORE", "the store", state->store);
    options.Number("--at", "TIMESTAMP", "the graph as it was then, as apply tells times",
                   state->at);
    options.Text("-o,--output", "FILE", "the .slim file to write; appears when it is complete",
                 state->out);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    if (state->out.empty()) {
      return Complain({ErrorKind::kUsage, "store export needs -o FILE: the .slim file to write"});
    }
    txn::GraphTime at = 0;
    const auto done = Export(*state, at);
    if (!done) return Complain(done.error());
    if (!state->json) {
      return Print(fmt::format("{}: {} vertices, {} edges, as of time {}\n", state->out,
                               FormatCount(done->vertices), FormatCount(done->edges), at));
    }
    Report report("store export");
    report.Set("/graph/path", state->out);
    report.Set("/graph/vertices", done->vertices);
    report.Set("/graph/edges", done->edges);
    report.Set("/result/time", at);
    return PrintReport(report);
  };
  return {"store export", "write a store's graph as a .slim file", declare, run};
}

}  // namespace slimgraph
