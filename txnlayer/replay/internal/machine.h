// The simulated machine: its agents, and the messages between them. Time is simulated, so a replay
// is deterministic, and waiting takes none of the computer's time.
#pragma once

#include <memory>
#include <vector>

#include "txnlayer/replay/internal/event_queue.h"
#include "txnlayer/replay/internal/order_check.h"
#include "txnlayer/replay/replay.h"

namespace slimgraph::txn {

class Machine {
 public:
  Machine(const AccessTrace& trace, const ReplayOptions& options);
  Result<ReplayResult> Run();

 private:
  struct Server {
    std::unique_ptr<LockManager> locks;
    std::uint64_t busy_until_ns = 0;
    std::uint64_t expiry_at_ns = 0;  // of the event that is scheduled; 0: none
  };
  // A partition of one of the trace's copies.
  struct Warehouse {
    std::uint32_t partition = 0;  // of the trace
    std::uint32_t copy = 0;
    std::size_t next = 0;  // which of the partition's transactions comes next
  };
  struct Agent {
    std::vector<std::uint32_t> warehouses;  // for which it works, in turn
    std::size_t turn = 0;
    const PlannedTransaction* planned = nullptr;  // null: it has none yet
    std::uint32_t copy = 0;
    std::uint32_t warehouse = 0;
    TransactionNumber number = 0;
    std::size_t asked = 0;               // how many locks it has requested
    std::vector<std::uint32_t> servers;  // that it has asked
    std::size_t votes_missing = 0;
    std::vector<OrderCheck::Seen> seen;
    // When the transaction was begun first, and when its attempt and each phase began.
    std::uint64_t first_ns = 0;
    std::uint64_t began_ns = 0;
    std::uint64_t rows_from_ns = 0;
    std::uint64_t vote_from_ns = 0;
    std::uint64_t requests = 0;  // of the attempt
  };

  static LockId LockOf(std::uint32_t what, std::uint32_t copy) {
    return (LockId{copy} << 40) | what;
  }
  // The server of a row or part (PlannedLock::what).
  std::uint32_t ServerOf(std::uint32_t what, std::uint32_t partition, std::uint32_t copy) const;
  bool OnOneNode(std::uint32_t agent, std::uint32_t server) const {
    return !options_.separate_servers && agent / agents_per_node_ == server / agents_per_node_;
  }
  std::uint64_t LatencyOf(std::uint32_t agent, std::uint32_t server) const;
  bool by_timestamps() const { return options_.protocol == ReplayProtocol::kTimestampOrder; }
  bool measuring(std::uint64_t now_ns) const { return now_ns >= warm_ns_ && now_ns < end_ns_; }

  // At a server agent: the time at which it has handled what arrives now.
  std::uint64_t Handle(Server& server, std::uint64_t now_ns);
  Status Serve(const Event& event);
  void Answer(std::uint32_t server, std::uint64_t at_ns, const std::vector<LateAnswer>& answers);
  void SendAnswer(std::uint32_t server, std::uint64_t at_ns, TransactionNumber transaction,
                  bool granted);
  void ReadRequested(Agent& agent, std::uint32_t server);
  void ScheduleExpiry(std::uint32_t server);

  // At a transaction agent.
  Status Act(const Event& event);
  void Begin(std::uint32_t index, std::uint64_t now_ns);
  void RequestNext(std::uint32_t index, std::uint64_t now_ns);
  void AccessRows(std::uint32_t index, std::uint64_t now_ns);
  Status AfterRows(std::uint32_t index, std::uint64_t now_ns);
  Status Commit(std::uint32_t index, std::uint64_t now_ns);
  // Sends the message to all servers that the agent has asked. Returns when it has sent all.
  std::uint64_t SendToAsked(std::uint32_t index, std::uint64_t now_ns, Event message);
  std::uint64_t End(std::uint32_t index, std::uint64_t now_ns, bool commits);

  const ReplayOptions options_;
  const AccessTrace& trace_;
  const std::vector<PlannedTransaction> plan_;
  const std::uint32_t num_agents_;
  const std::uint32_t agents_per_node_;
  const std::uint32_t num_warehouses_;
  const std::uint64_t end_ns_;
  const std::uint64_t warm_ns_;
  std::vector<std::vector<std::uint32_t>> of_partition_;  // numbers of its transactions
  std::vector<Warehouse> warehouses_;
  std::vector<Server> servers_;
  std::vector<Agent> agents_;
  EventQueue events_;
  Random random_;
  OrderCheck check_;
  ReplayResult result_;
  std::vector<LateAnswer> late_;
};

}  // namespace slimgraph::txn
