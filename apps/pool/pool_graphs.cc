// `slimgraph pool load|drop`, and the process that loads a node's part.
#include <algorithm>
#include <filesystem>

#include "apps/commands.h"
#include "apps/graph/graph_input.h"
#include "apps/job/job_runner.h"
#include "apps/pool/pool_output.h"
#include "dkudu/standing_lists.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/pool/pool.h"
#include "slimgraph/pool/standing_part.h"
#include "slimgraph/remote/standing_graph.h"

namespace slimgraph {
namespace {

// Whether a list such as "vertex,mining" names mining. What vertex programs need is always made.
Result<bool> PreparesMining(const std::string& text) {
  bool mining = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    if (one != "vertex" && one != "mining") {
      return UsageError("expected vertex, mining, or vertex,mining, found '{}'", text);
    }
    mining |= one == "mining";
    at = end + 1;
  }
  return mining;
}

std::vector<std::string> ViewsForMining(const SlimFile& file) {
  using dkudu::ListPart;
  using dkudu::ViewName;
  if (file.directed()) return {std::string(ViewName(ListPart::kArcs))};
  return {std::string(ViewName(ListPart::kUpper)), std::string(ViewName(ListPart::kAll))};
}

}  // namespace

Command PoolLoadCommand() {
  struct State {
    PoolLoad load;
    GraphInput graph;
    bool for_mining = false;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("NAME", "the pool", state->load.pool);
    DeclareGraph(options, state->graph);
    options.Text("--as", "G", "the graph's name in the pool", state->load.graph)
        .Default("the file's name up to its first dot");
    options
        .Value("--prepare", "WHAT",
               "what is made now, instead of when it is needed: vertex, or vertex,mining",
               [state](const std::string& text) -> Status {
                 SLIM_ASSIGN(state->for_mining, PreparesMining(text));
                 return {};
               })
        .Default("vertex");
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    PoolLoad& load = state->load;
    if (load.graph.empty()) {
      const std::string name = std::filesystem::path(state->graph.how.in).filename();
      load.graph = name.substr(0, name.find('.'));
    }
    if (const Status named = CheckPoolName("graph", load.graph); !named) {
      return PrintError(named.error());
    }
    if (const auto pool = ReadDescriptor(load.pool); !pool) return PrintError(pool.error());
    if (const Status graph = ResolveGraph(state->graph); !graph) return PrintError(graph.error());
    load.file = state->graph.path;
    load.shown = state->graph.how.in;
    if (state->for_mining) {
      const auto file = SlimFile::Open(load.file, load.shown);
      if (!file) return PrintError(file.error());
      load.views = ViewsForMining(*file);
    }
    const std::uint64_t start_ns = NowNs();
    const auto loaded = LoadIntoPool(load);
    if (!loaded) return PrintError(loaded.error());
    return PrintLoaded(load, *loaded, SecondsSince(start_ns), state->json);
  };
  return {"pool load", "load a graph into a pool; jobs name it NAME:G", declare, run};
}

Command PoolDropCommand() {
  struct State {
    std::string pool;
    std::string graph;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("NAME", "the pool", state->pool);
    options.Positional("G",
                       "the graph; jobs that use it go on, and its memory is freed at their end",
                       state->graph);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const Status dropped = DropFromPool(state->pool, state->graph);
    return dropped ? 0 : PrintError(dropped.error());
  };
  return {"pool drop", "remove a graph from a pool", declare, run};
}

Command PoolLoaderCommand() {
  struct State {
    std::string file;
    std::string shown;
    std::string node;
    std::string nodes;
    std::string view;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("FILE", "the .slim file", state->file);
    options.Positional("SHOWN", "its name in messages", state->shown);
    options.Positional("NODE", "the number of the part", state->node);
    options.Positional("NODES", "the number of parts", state->nodes);
    options.Positional(
        "VIEW",
        "upper, all or arcs: as mining reads it; unit: with weights of 1; both: as if it "
        "were undirected; empty: as it is",
        state->view);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto node = ParseNumber<NodeId>(state->node);
    const auto nodes = ParseNumber<NodeId>(state->nodes);
    if (!node || !nodes || *nodes == 0) {
      return PrintError(UsageError("NODE and NODES are numbers").value());
    }
    // All nodes load at the same time.
    const std::size_t threads = std::max<std::size_t>(1, UsableThreads() / *nodes);
    const auto load = [threads](const PartToLoad& part) -> Result<StandingPart> {
      if (part.view.empty() || part.view == kUnitView || part.view == kBothView) {
        return LoadStandingPart(part.file, part.shown, part.node, part.nodes, threads, part.view);
      }
      SLIM_ASSIGN(const dkudu::ListPart lists, dkudu::PartOfView(part.view));
      return dkudu::LoadStandingLists(part.file, part.shown, lists, part.node, part.nodes);
    };
    const Status served =
        ServeLoading({state->file, state->shown, *node, *nodes, state->view}, load);
    return served ? 0 : PrintError(served.error());
  };
  return {kPoolLoaderCommand, "load a part of a graph for a pool, which starts it", declare, run};
}

}  // namespace slimgraph
