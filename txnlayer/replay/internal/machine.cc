#include "txnlayer/replay/internal/machine.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "txnlayer/internal/store/hash.h"
#include "txnlayer/locks/lock_table.h"
#include "txnlayer/locks/timestamp_table.h"

namespace slimgraph::txn {
namespace {

// Transactions are numbered by the time of their begin and the agent.
constexpr unsigned kAgentBits = 16;

std::uint32_t AgentOf(TransactionNumber transaction) {
  return static_cast<std::uint32_t>(transaction & ((1U << kAgentBits) - 1));
}

std::unique_ptr<LockManager> MakeManager(const ReplayOptions& options) {
  switch (options.protocol) {
    case ReplayProtocol::kNoWait:
      return std::make_unique<LockTable>(WhenTaken::kNoWait);
    case ReplayProtocol::kWaitDie:
      return std::make_unique<LockTable>(WhenTaken::kWaitDie);
    case ReplayProtocol::kBoundedWait:
      return std::make_unique<LockTable>(WhenTaken::kBoundedWait, options.lock_timeout_ns);
    default:
      return std::make_unique<TimestampTable>();
  }
}

// Under timestamp ordering, only rows are requested.
LockPlanOptions PlanOf(const ReplayOptions& options) {
  LockPlanOptions plan = options.plan;
  if (options.protocol == ReplayProtocol::kTimestampOrder) {
    plan.intentions = false;
    plan.escalate = 0;
  }
  return plan;
}

}  // namespace

Machine::Machine(const AccessTrace& trace, const ReplayOptions& options)
    : options_(options),
      trace_(trace),
      plan_(PlanLocks(trace, PlanOf(options))),
      num_agents_(options.cores / 2),
      agents_per_node_(options.cores_per_node / 2),
      num_warehouses_(trace.partitions * options.copies),
      end_ns_(static_cast<std::uint64_t>(options.seconds * 1e9)),
      warm_ns_(end_ns_ / 5),
      of_partition_(trace.partitions),
      servers_(num_agents_),
      agents_(num_agents_),
      random_(options.seed),
      check_(options.protocol == ReplayProtocol::kTimestampOrder) {
  for (std::uint32_t i = 0; i < plan_.size(); ++i) {
    of_partition_[plan_[i].traced->partition].push_back(i);
  }
  for (Server& server : servers_) server.locks = MakeManager(options);
  const std::uint64_t agents = num_agents_;
  for (std::uint64_t w = 0; w < num_warehouses_; ++w) {
    const auto partition = static_cast<std::uint32_t>(w / options.copies);
    const auto copy = static_cast<std::uint32_t>(w % options.copies);
    // Copies begin at different transactions, so that they do not run in step.
    const std::size_t count = std::max<std::size_t>(1, of_partition_[partition].size());
    warehouses_.push_back({partition, copy, count * copy / options.copies});
    if (num_warehouses_ >= agents) {
      agents_[w * agents / num_warehouses_].warehouses.push_back(static_cast<std::uint32_t>(w));
    }
  }
  for (std::uint64_t a = 0; a < agents && num_warehouses_ < agents; ++a) {
    agents_[a].warehouses.push_back(static_cast<std::uint32_t>(a * num_warehouses_ / agents));
  }
  result_.committed_of_kind.resize(trace.kinds.size());
}

std::uint32_t Machine::ServerOf(std::uint32_t what, std::uint32_t partition,
                                std::uint32_t copy) const {
  const std::uint64_t servers = num_agents_;
  const std::uint64_t warehouse = std::uint64_t{partition} * options_.copies + copy;
  const std::uint64_t first = warehouse * servers / num_warehouses_;
  const std::uint64_t after = (warehouse + 1) * servers / num_warehouses_;
  const std::uint64_t share = after > first ? after - first : 1;
  return static_cast<std::uint32_t>(first + (trace_.places[what] * share >> 32));
}

std::uint64_t Machine::LatencyOf(std::uint32_t agent, std::uint32_t server) const {
  if (OnOneNode(agent, server)) return options_.costs.local_ns;
  return options_.costs.remote_ns + options_.costs.delay_ns;
}

Result<ReplayResult> Machine::Run() {
  for (std::uint32_t i = 0; i < num_agents_; ++i) {
    // Not all at the same moment.
    events_.Add({.at_ns = 1 + Mix(i) % 1000, .agent = i, .kind = Event::Kind::kBegin});
  }
  while (!events_.empty()) {
    const Event event = events_.Take();
    if (event.kind <= Event::Kind::kExpiry) {
      SLIM_TRY(Serve(event));
    } else {
      SLIM_TRY(Act(event));
    }
  }
  const auto idle = [](const Server& server) { return server.locks->idle(); };
  if (!std::all_of(servers_.begin(), servers_.end(), idle)) {
    return VerificationError("replay: a lock is left when all transactions have ended");
  }
  result_.seconds = static_cast<double>(end_ns_ - warm_ns_) * 1e-9;
  return std::move(result_);
}

// --- server agents

std::uint64_t Machine::Handle(Server& server, std::uint64_t now_ns) {
  server.busy_until_ns = std::max(now_ns, server.busy_until_ns) + options_.costs.server_ns;
  return server.busy_until_ns;
}

Status Machine::Serve(const Event& event) {
  Server& server = servers_[event.server];
  late_.clear();
  if (event.kind == Event::Kind::kExpiry) {
    server.expiry_at_ns = 0;
    server.locks->Expire(event.at_ns, late_);
    Answer(event.server, std::max(event.at_ns, server.busy_until_ns), late_);
    ScheduleExpiry(event.server);
    return {};
  }
  const std::uint64_t done_ns = Handle(server, event.at_ns);
  if (event.kind == Event::Kind::kVote) {
    events_.Add({.at_ns = done_ns + LatencyOf(event.agent, event.server),
                 .agent = event.agent,
                 .kind = Event::Kind::kVoted});
  } else if (event.kind == Event::Kind::kEnd) {
    if (event.good && by_timestamps()) {
      SLIM_TRY(check_.Install(event.transaction, event.server));
    }
    server.locks->End(event.transaction, event.good, event.at_ns, late_);
    Answer(event.server, done_ns, late_);
  } else {
    const LockAnswer answer =
        server.locks->Request({event.transaction, event.lock, event.mode}, event.at_ns);
    if (answer != LockAnswer::kLater) {
      SendAnswer(event.server, done_ns, event.transaction, answer == LockAnswer::kGranted);
      return {};
    }
    if (measuring(event.at_ns)) ++result_.waits;
    ScheduleExpiry(event.server);
  }
  return {};
}

void Machine::Answer(std::uint32_t server, std::uint64_t at_ns,
                     const std::vector<LateAnswer>& answers) {
  for (const LateAnswer& late : answers) {
    SendAnswer(server, at_ns, late.transaction, late.answer == LockAnswer::kGranted);
  }
}

void Machine::SendAnswer(std::uint32_t server, std::uint64_t at_ns, TransactionNumber transaction,
                         bool granted) {
  const std::uint32_t agent = AgentOf(transaction);
  if (granted && by_timestamps()) ReadRequested(agents_[agent], server);
  events_.Add({.at_ns = at_ns + LatencyOf(agent, server),
               .agent = agent,
               .transaction = transaction,
               .kind = Event::Kind::kAnswer,
               .good = granted});
}

// Timestamp ordering admits a read before a later write, but does not keep the write out after
// that. So the server reads the row when it grants the request, and the answer brings it.
void Machine::ReadRequested(Agent& agent, std::uint32_t server) {
  const PlannedLock& wanted = agent.planned->locks[agent.asked - 1];
  check_.Access(agent.number, LockOf(wanted.what, agent.copy), wanted.mode == LockMode::kX, server,
                agent.seen);
}

void Machine::ScheduleExpiry(std::uint32_t index) {
  Server& server = servers_[index];
  if (server.expiry_at_ns != 0) return;
  const auto next_ns = server.locks->next_expiry_ns();
  if (!next_ns) return;
  server.expiry_at_ns = *next_ns;
  events_.Add({.at_ns = *next_ns, .server = index, .kind = Event::Kind::kExpiry});
}

// --- transaction agents

Status Machine::Act(const Event& event) {
  Agent& agent = agents_[event.agent];
  switch (event.kind) {
    case Event::Kind::kBegin:
      Begin(event.agent, event.at_ns);
      return {};
    case Event::Kind::kRowsDone:
      return AfterRows(event.agent, event.at_ns);
    case Event::Kind::kVoted:
      return --agent.votes_missing == 0 ? Commit(event.agent, event.at_ns) : Status();
    default:
      break;
  }
  if (event.good) {
    RequestNext(event.agent, event.at_ns);
    return {};
  }
  if (measuring(event.at_ns)) ++result_.aborted;
  const std::uint64_t ended_ns = End(event.agent, event.at_ns, false);
  const std::uint64_t rest_ns = Below(random_, options_.costs.retry_ns + 1);
  events_.Add({.at_ns = ended_ns + rest_ns, .agent = event.agent, .kind = Event::Kind::kBegin});
  return {};
}

// Begins the next transaction, or retries an aborted one.
void Machine::Begin(std::uint32_t index, std::uint64_t now_ns) {
  if (now_ns >= end_ns_) return;
  Agent& agent = agents_[index];
  const bool again = agent.planned != nullptr;
  if (!again) {
    agent.warehouse = agent.warehouses[agent.turn++ % agent.warehouses.size()];
    Warehouse& warehouse = warehouses_[agent.warehouse];
    const std::vector<std::uint32_t>& of_partition = of_partition_[warehouse.partition];
    agent.planned = &plan_[of_partition[warehouse.next++ % of_partition.size()]];
    agent.copy = warehouse.copy;
    agent.first_ns = now_ns;
  }
  if (!again || options_.protocol != ReplayProtocol::kWaitDie) {
    agent.number = now_ns << kAgentBits | index;
  }
  agent.began_ns = now_ns;
  agent.asked = 0;
  agent.servers.clear();
  agent.seen.clear();
  RequestNext(index, now_ns);
}

void Machine::RequestNext(std::uint32_t index, std::uint64_t now_ns) {
  Agent& agent = agents_[index];
  if (agent.asked == agent.planned->locks.size()) return AccessRows(index, now_ns);
  const PlannedLock& wanted = agent.planned->locks[agent.asked++];
  const LockId lock = LockOf(wanted.what, agent.copy);
  const std::uint32_t server = ServerOf(wanted.what, wanted.partition, agent.copy);
  if (std::find(agent.servers.begin(), agent.servers.end(), server) == agent.servers.end()) {
    agent.servers.push_back(server);
  }
  if (measuring(now_ns)) {
    ++result_.requests;
    result_.intention += wanted.what >= trace_.num_rows ? 1 : 0;
  }
  events_.Add({.at_ns = now_ns + LatencyOf(index, server),
               .agent = index,
               .server = server,
               .transaction = agent.number,
               .lock = lock,
               .kind = Event::Kind::kRequest,
               .mode = wanted.mode});
}

// One row after the other, by one-sided operations. Those on other nodes overlap.
void Machine::AccessRows(std::uint32_t index, std::uint64_t now_ns) {
  Agent& agent = agents_[index];
  const MachineCosts& costs = options_.costs;
  agent.rows_from_ns = now_ns;
  std::uint64_t done_ns = now_ns;
  bool leaves_node = false;
  for (const TracedRow& row : agent.planned->traced->rows) {
    const std::uint32_t server = ServerOf(row.row, row.partition, agent.copy);
    done_ns += costs.row_ns;
    leaves_node = leaves_node || !OnOneNode(index, server);
    const bool is_protected = row.write || options_.plan.isolation == Isolation::kSerializable;
    if (is_protected && !by_timestamps()) {
      check_.Access(agent.number, LockOf(row.row, agent.copy), row.write, server, agent.seen);
    }
  }
  if (leaves_node) done_ns += 2 * (costs.remote_ns + costs.delay_ns);
  events_.Add({.at_ns = done_ns, .agent = index, .kind = Event::Kind::kRowsDone});
}

// Two-phase commit, if rows of several servers were written.
Status Machine::AfterRows(std::uint32_t index, std::uint64_t now_ns) {
  Agent& agent = agents_[index];
  agent.vote_from_ns = now_ns;
  std::vector<std::uint32_t> written;
  for (const TracedRow& row : agent.planned->traced->rows) {
    if (!row.write) continue;
    const std::uint32_t server = ServerOf(row.row, row.partition, agent.copy);
    if (std::find(written.begin(), written.end(), server) == written.end()) {
      written.push_back(server);
    }
  }
  if (written.size() < 2) return Commit(index, now_ns);
  if (measuring(now_ns)) ++result_.votes;
  agent.votes_missing = agent.servers.size();
  SendToAsked(index, now_ns, {.kind = Event::Kind::kVote});
  return {};
}

Status Machine::Commit(std::uint32_t index, std::uint64_t now_ns) {
  Agent& agent = agents_[index];
  SLIM_TRY(check_.Commit(agent.number, agent.seen));
  const std::uint64_t ended_ns = End(index, now_ns, true);
  if (measuring(now_ns)) {
    ++result_.committed;
    ++result_.committed_of_kind[agent.planned->traced->kind];
    result_.servers += agent.servers.size();
    result_.lost_ns += agent.began_ns - agent.first_ns;
    result_.lock_ns += agent.rows_from_ns - agent.began_ns;
    result_.row_ns += agent.vote_from_ns - agent.rows_from_ns;
    result_.vote_ns += now_ns - agent.vote_from_ns;
    result_.end_ns += ended_ns - now_ns;
    result_.latencies.Add(ended_ns - agent.first_ns);
  }
  agent.planned = nullptr;
  events_.Add({.at_ns = ended_ns, .agent = index, .kind = Event::Kind::kBegin});
  return {};
}

std::uint64_t Machine::SendToAsked(std::uint32_t index, std::uint64_t now_ns, Event message) {
  std::uint64_t sent_ns = now_ns;
  message.agent = index;
  for (const std::uint32_t server : agents_[index].servers) {
    sent_ns += options_.costs.send_ns;
    message.at_ns = sent_ns + LatencyOf(index, server);
    message.server = server;
    events_.Add(message);
  }
  return sent_ns;
}

std::uint64_t Machine::End(std::uint32_t index, std::uint64_t now_ns, bool commits) {
  return SendToAsked(
      index, now_ns,
      {.transaction = agents_[index].number, .kind = Event::Kind::kEnd, .good = commits});
}

}  // namespace slimgraph::txn
