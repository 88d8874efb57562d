// `slimgraph pool start|status|metrics|stop|list`, and what a pool's nodes run.
#include <iostream>
#include <iterator>

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/pool/pool_output.h"
#include "apps/pool/view_command.h"
#include "apps/print.h"
#include "slimgraph/launch/hosts.h"
#include "slimgraph/pool/cache_agent.h"
#include "slimgraph/pool/pool.h"
#include "slimgraph/pool/pool_node.h"

namespace slimgraph {

Command PoolStartCommand() {
  const auto start = std::make_shared<PoolStart>();
  const auto hosts = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  const auto declare = [start, hosts, json](Options& options) {
    options.Positional("NAME", "the pool: letters, digits, - and _", start->name);
    options
        .Number("--nodes", "N", "processes that keep parts of each graph, for a new pool",
                start->nodes)
        .Default("those of the pool whose nodes have ended, or those of --hosts");
    Option& by_hosts =
        options
            .Text("--hosts", "FILE",
                  "start the nodes on these hosts by ssh, in turn; lines 'HOST' or 'HOST:NODES'",
                  *hosts)
            .Default("this machine alone");
    options
        .Text("--launcher", "COMMAND",
              "start the nodes by this command of the shell, such as "
              "'srun --overlap --exclude={taken} -N {nodes}'",
              start->launcher)
        .Default("slimgraph itself")
        .Excludes(by_hosts);
    const auto limit = [&](const char* name, const char* help,
                           std::optional<std::uint64_t>& bytes) {
      const auto parse = [&bytes](const std::string& text) -> Status {
        SLIM_ASSIGN(bytes, ParseBytes(text));
        return {};
      };
      options.Value(name, "BYTES", help, parse)
          .Default("none")
          .Shown(ShownAs::kBytes, std::nullopt);
    };
    limit("--memory", "limit for the graphs on each node", start->memory_bytes);
    limit("--job-memory", "what a job may take of each node's memory, besides the graph",
          start->job_memory_bytes);
    limit("--job-bandwidth",
          "what a job may send to each node and read from it in a second; memory that it maps in "
          "place does not count",
          start->job_bytes_per_s);
    limit("--host-cache",
          "what each host keeps of each graph: lists that its jobs have read over tcp",
          start->host_cache_bytes);
    options
        .Number("--copies", "K", "nodes that keep each part; a job needs one of them",
                start->copies)
        .Default("1");
    options.Flag("--encrypt",
                 "jobs encrypt and authenticate everything that they send over TCP; their graphs "
                 "cross the network that way",
                 start->encrypts);
    options.Flag("--json", "the result as one JSON object", *json);
  };
  const auto run = [start, hosts, json](const std::vector<std::string>&) {
    if (!hosts->empty()) {
      const auto lines = ReadHosts(*hosts);
      if (!lines) return PrintError(lines.error());
      start->hosts = HostsByRank(*lines);
    }
    const auto started = StartPool(*start);
    if (!started) return PrintError(started.error());
    return PrintStarted(*started, *json);
  };
  return {"pool start", "start a standing pool, or those of its nodes that have ended", declare,
          run};
}

Command PoolStatusCommand() {
  return ViewCommand("pool status", "show a pool's nodes, graphs, and the jobs that use them",
                     PrintStatus);
}

Command PoolStopCommand() {
  struct State {
    std::string name;
    bool now = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("NAME", "the pool", state->name);
    options.Flag("--now", "even if jobs use it: they lose their memory nodes, and end", state->now);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const Status stopped = StopPool(state->name, state->now);
    return stopped ? 0 : PrintError(stopped.error());
  };
  return {"pool stop", "end a pool and free its memory", declare, run};
}

Command PoolMetricsCommand() {
  const auto name = std::make_shared<std::string>();
  const auto declare = [name](Options& options) { options.Positional("NAME", "the pool", *name); };
  const auto run = [name](const std::vector<std::string>&) {
    const auto view = ViewPool(*name);
    return view ? PrintMetrics(*view) : PrintError(view.error());
  };
  return {"pool metrics", "figures about a pool, in the text format of Prometheus", declare, run};
}

Command PoolListCommand() {
  const auto json = std::make_shared<bool>(false);
  const auto declare = [json](Options& options) {
    options.Flag("--json", "the result as one JSON object", *json);
  };
  const auto run = [json](const std::vector<std::string>&) {
    const auto pools = ListPools();
    return pools ? PrintPools(*pools, *json) : PrintError(pools.error());
  };
  return {"pool list", "name the pools of this user", declare, run};
}

Command PoolNodeCommand() {
  const auto run = [](const std::vector<std::string>&) {
    return PrintError(ServePoolNode().error());
  };
  return {kPoolNodeCommand, "keep graphs for a pool, which starts it", [](Options&) {}, run};
}

Command PoolJoinCommand() {
  const auto run = [](const std::vector<std::string>&) { return PrintError(JoinPool().error()); };
  return {kPoolJoinCommand, "become a node of a pool that is started by a launcher",
          [](Options& options) { options.RunsAsCopies(); }, run};
}

Command PoolCacheCommand() {
  const auto run = [](const std::vector<std::string>&) {
    const Status served = ServePoolCache();
    return served ? 0 : PrintError(served.error());
  };
  return {kPoolCacheCommand, "keep copies of a graph for the jobs on this host, which start it",
          [](Options&) {}, run};
}

Command PoolHostCommand() {
  const auto run = [](const std::vector<std::string>&) {
    const std::string request(std::istreambuf_iterator<char>(std::cin), {});
    const auto answer = ServePoolHost(request);
    return answer ? Print(*answer) : PrintError(answer.error());
  };
  return {kPoolHostCommand, "start or end a node on this host, for a pool", [](Options&) {}, run};
}

}  // namespace slimgraph
