#include "slimgraph/session/internal/nodes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "slimgraph/base/sockets.h"
#include "slimgraph/launch/started_by.h"
#include "slimgraph/session/internal/open_store.h"
#include "slimgraph/session/internal/wording.h"
#include "slimgraph/session/memory_node.h"

namespace slimgraph::internal {
namespace {

// What a launcher says about the number of compute nodes; 0: nothing.
NodeId ComputeNodesFromEnvironment() {
  const char* const text = std::getenv(kComputeVariable);
  return text == nullptr ? 0 : static_cast<NodeId>(std::atoi(text));
}

template <std::size_t N>
Status Keep(char (&into)[N], const std::string& name) {
  SLIM_CHECK(name.size() < N, "{}", name);
  std::memcpy(into, name.c_str(), name.size() + 1);
  return {};
}

Status CheckOptions(const SessionOptions& options) {
  if (options.threads == 0) return UsageError("SessionOptions.threads is 0: give at least 1");
  if (options.transport == "mpi") {
    return UsageError("a session cannot use the transport mpi: give shm, tcp or verbs");
  }
  if (MayReduce(options.cache.side)) {
    return UsageError(
        "a session's memory nodes cannot reduce, because they do not run its program: give kStrict "
        "or kServe as SessionOptions.cache.side");
  }
  const bool reads = options.cache.access == Access::kRead;
  if (reads && options.pool_graph.empty()) {
    return UsageError("SessionOptions.cache.access is for a graph of a pool");
  }
  if (options.cache.host_of && (reads || options.pool_graph.empty())) {
    return UsageError(
        "SessionOptions.cache.host_of is for a graph of a pool, with cache.access kInPlace");
  }
  if (!options.transport.empty()) SLIM_TRY(CheckTransport(options.transport));
  return CheckNetwork(options.network);
}

}  // namespace

Nodes::Nodes() = default;
Nodes::~Nodes() { static_cast<void>(Close()); }

Result<std::shared_ptr<Nodes>> Nodes::Form(const SessionOptions& options) {
  std::shared_ptr<Nodes> nodes(new Nodes);
  const Status started = NamingFields(nodes->Start(options));
  if (!started) {
    nodes->failure_ = started.error();
    return tl::unexpected<Error>(started.error());
  }
  return nodes;
}

Status Nodes::Start(const SessionOptions& options) {
  SLIM_TRY(CheckOptions(options));
  SLIM_ASSIGN(const auto place, TakePlace());
  SLIM_TRY(CheckLaunch());
  const bool launched = place || StartedBy() != Starter::kNobody;
  if (!options.pool_graph.empty()) {
    if (launched) {
      return UsageError("a session that attaches to a pool is started without a launcher");
    }
    if (options.nodes != 0) {
      return UsageError("SessionOptions.nodes is {}, but the memory nodes are those of the pool",
                        options.nodes);
    }
  }
  const NodeId started = place ? place->nodes : StartedNodes();
  if (options.nodes != 0 && launched && options.nodes != started) {
    return UsageError("SessionOptions.nodes is {}, but the launcher has started a job of {} nodes",
                      options.nodes, started);
  }
  const NodeId said = place ? place->compute : launched ? ComputeNodesFromEnvironment() : 0;
  if (options.compute != 0 && place && options.compute != said) {
    return UsageError("SessionOptions.compute is {}, but the launcher has started {}",
                      options.compute, said);
  }
  nodes_ = options.nodes != 0 ? options.nodes : started;
  request_.compute = options.compute != 0 ? options.compute : said != 0 ? said : 1;
  if (options.pool_graph.empty()) SLIM_TRY(Topology::Make(nodes_, request_.compute));
  request_.threads = options.threads;
  request_.cache = options.cache;
  SLIM_TRY(Keep(request_.network, options.network));
  SLIM_TRY(place                         ? StartAt(*place, options)
           : launched                    ? JoinLaunched(options)
           : !options.pool_graph.empty() ? StartAttached(options)
                                         : StartHere(options));
  SLIM_TRY(AgreeOnVersion(*job_, VersionOfCalls()));
  const std::string transport = job_->maps_memory() ? "shm" : "tcp";
  return Keep(request_.transport, options.transport.empty() ? transport : options.transport);
}

Status Nodes::StartHere(const SessionOptions& options) {
  followed_ = request_.compute > 1;
  if (nodes_ == 1) {
    job_ = Job::Alone();
    return {};
  }
  JoinConfig config{.self = 0, .nodes = nodes_};
  SLIM_ASSIGN(config.listener, ListenTcp("127.0.0.1"));
  SLIM_ASSIGN(config.secret, NewSecret());
  return StartHelpers(1, options.memory_node_program, std::move(config));
}

Status Nodes::StartAttached(const SessionOptions& options) {
  const std::size_t colon = options.pool_graph.find(':');
  if (colon == std::string::npos) {
    return UsageError(
        "SessionOptions.pool_graph is '{}': give NAME:GRAPH, the names of a pool and "
        "of a graph that it keeps",
        options.pool_graph);
  }
  followed_ = request_.compute > 1;
  SLIM_ASSIGN(
      attachment_,
      Attachment::Make({.pool = options.pool_graph.substr(0, colon),
                        .graph = options.pool_graph.substr(colon + 1),
                        .compute = request_.compute,
                        .transport = options.transport,
                        .in_place = InPlaceBy(options.cache.access, options.cache.host_of),
                        .words = {kMemoryNodeCommand},
                        .compute_command = {options.memory_node_program, kComputeNodeCommand}}));
  nodes_ = request_.compute + attachment_->facts().nodes;
  SLIM_ASSIGN(job_, Job::Join(attachment_->TakeConfig(), OnLoss::kReport));
  return {};
}

Status Nodes::StartAt(const Place& place, const SessionOptions& options) {
  self_ = place.node;
  if (self_ == 0) {
    return StartHelpers(request_.compute,
                        place.command.empty() ? options.memory_node_program : place.command,
                        place.Config());
  }
  SLIM_ASSIGN(job_, Job::Join(place.Config(), OnLoss::kReport));
  return {};
}

Status Nodes::StartHelpers(NodeId first, const std::string& program, JoinConfig config) {
  const std::string hub = fmt::format("127.0.0.1:{}", LocalAddress(config.listener.get()).port());
  for (NodeId node = first; node < nodes_; ++node) {
    SLIM_TRY(helpers_.Start(program, {.node = node,
                                      .nodes = nodes_,
                                      .compute = request_.compute,
                                      .hub = hub,
                                      .secret = config.secret}));
  }
  config.still_coming = [this] { return helpers_.CheckAllRun(); };
  SLIM_ASSIGN(job_, Job::Join(std::move(config), OnLoss::kReport));
  return {};
}

Status Nodes::JoinLaunched(const SessionOptions& options) {
  self_ = StartedRank();
  if (self_ >= request_.compute) {
    ::execlp(options.memory_node_program.c_str(), options.memory_node_program.c_str(),
             kMemoryNodeCommand, nullptr);
    Job::CannotJoin(EnvironmentError("cannot become the memory-node program '{}': {}; set "
                                     "SessionOptions.memory_node_program to the slimgraph command",
                                     options.memory_node_program, std::strerror(errno))
                        .value());
  }
  SLIM_TRY(BecomeNodeOnce());
  SLIM_ASSIGN(job_, Job::JoinFromEnvironment(PmiUse::kFormJob, OnLoss::kReport));
  return {};
}

Status Nodes::CheckRunsFunctionsOfProgram(const std::string& call) const {
  if (!followed_) return {};
  return UsageError(
      "{}: the other compute nodes of this session cannot run functions of the program: start it "
      "with 'slimgraph launch --nodes {} --compute {} -- PROGRAM'",
      call, nodes_, request_.compute);
}

Result<Call> Nodes::Do(const std::string& name, Result<Call> mine) {
  if (job_) job_->ForgetProgress();
  if (!job_) return UsageError("{}: the session is closed", name);
  if (failure_) return tl::unexpected<Error>(*failure_);
  if (mine) mine->dropped = dropped_;
  auto agreed = AgreeOnCall(*job_, name, mine);
  if (!agreed) {
    // A node may leave after a call that it cannot make. The failed exchange has another kind.
    if (job_->all_alive() || agreed.error().kind != ErrorKind::kEnvironment) return agreed;
    return tl::unexpected<Error>(Fail(agreed.error()));
  }
  for (const std::uint64_t graph : agreed->dropped) std::erase(dropped_, graph);
  const auto refusal = DoOnEveryNode(*job_, *agreed, graphs_, {}, /*computes=*/true);
  if (!refusal) return tl::unexpected<Error>(Fail(refusal.error()));
  if (*refusal) return tl::unexpected<Error>(NamingFields(**refusal));
  const auto of_store = DoOnStores(*job_, *agreed, stores_, graphs_, /*computes=*/true);
  if (!of_store) return tl::unexpected<Error>(Fail(of_store.error()));
  if (*of_store) return tl::unexpected<Error>(NamingFields(**of_store));
  return agreed;
}

Error Nodes::Fail(const Error& error) {
  if (nodes_ == 1) {
    if (job_->cancelled()) failure_ = error;
    return error;
  }
  if (!failure_) {
    failure_ = error;
    if (job_->all_alive()) {
      FailAndAwait(*job_, error);
    } else if (const std::string loss = job_->loss(); !loss.empty()) {
      failure_ = Error{ErrorKind::kEnvironment, loss};
    }
  }
  return *failure_;
}

void Nodes::Cancel() {
  if (job_) job_->Cancel({ErrorKind::kEnvironment, "the session was cancelled"});
}

OpenGraph* Nodes::Find(std::uint64_t graph) {
  const auto found = graphs_.find(graph);
  return found == graphs_.end() ? nullptr : found->second.get();
}

OpenStore* Nodes::FindStore(std::uint64_t store) {
  const auto found = stores_.find(store);
  return found == stores_.end() ? nullptr : found->second.get();
}

Status Nodes::Close() {
  if (!job_) return {};
  Status done;
  if (!failure_) {
    dropped_.clear();
    for (const auto& [number, graph] : graphs_) dropped_.push_back(number);
    const auto call = Do("Close", Call{.name = "Close", .task = Task::kEnd});
    done = call ? job_->Leave(0) : Status(tl::unexpect, call.error());
  }
  if (failure_) done = tl::unexpected<Error>(*failure_);
  if (!done) job_->LeaveAfter(done.error());
  stores_.clear();
  graphs_.clear();
  job_.reset();
  helpers_.Reap();
  attachment_.reset();
  return done;
}

}  // namespace slimgraph::internal
