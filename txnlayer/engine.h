// Transactions on a cluster: the tables, the protocol, and the threads and coroutines that run
// them. Open this header first, then transaction.h.
//
// Every node makes the same engine and the same tables. Compute nodes run transactions, all nodes
// hold tuples; a node's threads serve two-sided stages of the others while its own coroutines run,
// and sleep when there is nothing to do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/cluster/cluster.h"
#include "txnlayer/durability/durability.h"
#include "txnlayer/figures.h"
#include "txnlayer/protocol/protocol.h"
#include "txnlayer/replication/replication.h"
#include "txnlayer/replication/view.h"
#include "txnlayer/store/location_cache.h"

namespace slimgraph::txn {

class RpcServer;

// What requests ask for from here on is the protocol's companion's business.
constexpr std::uint16_t kFirstCompanionRequest = 32;

// A stage's number in the accounts of traffic.
StageId TrafficStage(Stage stage);

// An experiment: a node dies (by SIGKILL) when one of its transactions comes to the end of that
// stage, for the `times`th time.
struct Death {
  std::optional<NodeId> node = {};
  Stage stage = Stage::kRead;
  std::uint64_t times = 1;
};

// Another: while the death of others is repaired, when the node comes to the end of that step.
struct DeathInRepair {
  static constexpr std::uint32_t kSteps = 5;
  std::optional<NodeId> node = {};
  std::uint32_t step = 1;
};

struct EngineOptions {
  StageCode stages = {};
  bool mix_stages = false;  // instead: each transaction draws a code, so that all forms are seen
  std::uint32_t coroutines = 1;  // of each thread
  // How many nodes hold each partition: with R of them, R-1 nodes may die, and the others go on.
  std::uint32_t replicas = 1;
  // Of the log that each thread has at each backup; a transaction's record is a quarter at most.
  std::uint64_t log_bytes = 256 << 10;
  Death death = {};
  DeathInRepair death_in_repair = {};
  // Each can be switched off, to see what it is worth.
  bool outstanding = true;  // requests to several tuples are under way together
  bool doorbells = true;    // operations on a tuple go out together
  bool passive = true;      // nobody waits for the acknowledgement of a commit or a release
  // A transaction that has asked for tuples goes on before they arrive, until it needs them.
  bool speculation = true;
  std::uint64_t cache_bytes = 4 << 20;  // of each thread's location cache; 0: none
};

// Words of the options "a,b": outstanding, doorbells, passive, speculation, cache. Switches them
// off.
Status SwitchOff(std::string_view words, EngineOptions& options);

Status CheckCoroutines(std::uint32_t coroutines);
Status CheckReplicas(std::uint32_t replicas, NodeId nodes);
Status CheckLogBytes(std::uint64_t bytes);
Status CheckDeaths(const EngineOptions& options, NodeId nodes, const Protocol& protocol);

// What a run ends with that needs more places than there are.
Error TableIsFull();

class Engine {
 public:
  // `protocol` outlives the engine.
  static Result<std::unique_ptr<Engine>> Make(Cluster& cluster, const Protocol& protocol,
                                              const EngineOptions& options);
  ~Engine();

  Cluster& cluster() { return cluster_; }
  NodeId self() const { return cluster_.self(); }
  const Protocol& protocol() const { return protocol_; }
  const EngineOptions& options() const { return options_; }
  // Between runs, the same on all nodes: other stages, coroutines, optimisations.
  Status Configure(const EngineOptions& options);

  // Collective.
  Result<Table*> AddTable(const TableSpec& spec);
  Table& table(TableId id) { return *tables_[id]; }
  TableId tables() const { return static_cast<TableId>(tables_.size()); }
  // All tuples of all tables of which this node is the primary, when nothing runs.
  void ForEachTuple(const std::function<void(Table&, std::byte*)>& look);
  void ForEachTuple(Table& table, const std::function<void(std::byte*)>& look);
  // Makes that version the tuple's, in a part of this node, unless a later one is there, when
  // nothing runs on the tuple. False: the table is full.
  bool PutVersion(Table& table, Key key, Rank rank, const std::byte* version);

  // Who holds what. Null: nothing is replicated.
  const View& view() const { return view_; }
  Replication* replication() { return replication_.get(); }

  // Collective, when the tables are filled and before any run: what the logs in `folder` have is
  // put back, and from here on a transaction is committed only when its record is on disk.
  // `identity` tells the contents of these tables from others.
  Status KeepLogs(const std::string& folder, std::uint64_t identity, KeptAside* aside = nullptr);
  // Null: nothing outlives the nodes.
  Durability* durability() { return durability_.get(); }

  // Which of the home's threads serves requests for a key.
  EndpointAddress ServerOf(const Table& table, Key key) const;

  // Collective: on compute nodes `body` runs once in each coroutine; returns when it has ended on
  // all nodes and nothing is under way any more. `figures()` are then this node's.
  //
  // With replicas, nodes other than 0 may die meanwhile. Transactions that were not committed are
  // then aborted, all threads come to rest, partitions go to other nodes, and the rest of the
  // coroutines go on.
  using Body = std::function<void(Transaction&)>;
  Status Run(const Body& body);
  const Figures& figures() const { return figures_; }

  // Collective, from another thread than Run()'s, with a cluster of its own (of all that live):
  // `work` runs on every node at a moment when no transaction is under way anywhere; those that
  // have begun end first, and no other begins before it has returned everywhere. False: the run is
  // over, or was before it came to that, on all nodes; `work` has not run. Waits for the run to
  // begin. Fails when a node of the cluster dies before all are through.
  Result<bool> Pause(Cluster& cluster, const std::function<Status()>& work);
  // Waits for the end of a run, or of all.
  void AwaitEnd();
  // At most so long; whether it has come.
  bool AwaitEnd(std::chrono::milliseconds limit);
  // A run will come: until then, whoever wants its moments waits.
  void ExpectRun() { SetCourse(Course::kBefore); }
  // No run will come any more: whoever waits for one is told so.
  void EndPauses();
  // At such a moment, on every node: whoever begins later is younger than `latest`, and so sees the
  // last of everything. The largest timestamp that this node knows.
  Timestamp latest() const;
  void StartAfter(Timestamp latest);
  // At such a moment, on every node: copies are as their partitions, and no log for their sake has
  // anything that is needed.
  void TakeInLogs();
  // At such a moment, on every node: nobody knows any more where tuples lie, nor holds any, so that
  // tables may be cleared.
  void ForgetTuples();

  // When a run should end, as a time of NowNs(): long bodies look at it. From any thread.
  void SetDeadline(std::uint64_t ns) { deadline_ns_.store(ns, std::memory_order_relaxed); }
  bool over(std::uint64_t now_ns = NowNs()) const {
    return failed_ || now_ns >= deadline_ns_.load(std::memory_order_relaxed);
  }
  // Whether all nodes are in Run(), and so bear a death where copies allow. From any thread.
  bool running() const { return course_ == Course::kRunning; }
  // A node has died, and no transaction may begin before all is in order again.
  bool changing() const { return losses_.load(std::memory_order_acquire) != repaired_; }
  // How long that took in the last run, in all.
  double repair_s() const { return repair_s_; }
  // While this is held, tuples stay where they are: for whoever looks through tables beside the
  // transactions, and waits for no other node meanwhile.
  std::shared_lock<std::shared_mutex> HoldTuples() { return std::shared_lock(places_); }
  // How often, so far, places of records that are no more have been taken back, and how many of
  // this node.
  std::uint32_t sweeps() const { return sweeps_done_; }
  std::uint64_t swept() const { return swept_; }
  // The nodes that have died.
  std::vector<NodeId> lost() const;

 private:
  friend class Transaction;
  friend class Replication;
  struct Thread;
  // What a thread knew of when all its tasks came to rest, and what all come to rest for.
  struct AtRest {
    std::uint32_t round = 0;
    std::uint32_t losses = 0;
    std::uint32_t pauses = 0;
    std::uint32_t sweeps = 0;
  };
  enum class Course : std::uint8_t { kBefore, kRunning, kOver };
  Engine(Cluster& cluster, const Protocol& protocol, const EngineOptions& options);
  Status RunThread(std::uint32_t thread);
  Status RunRounds();
  void AddTasks(const Body& body);
  void HearOfRest();
  void Settle(Task& task);
  void TellAtRest(Thread& thread);
  void StopIfAllRest(Endpoint& endpoint);
  void TakeNoteOfLosses(Thread& thread);
  static void TakeNote(std::uint32_t wanted, std::uint32_t& seen, Thread& thread);
  // sweep.cc.
  void HearOfSweeps();
  void HearOfPauses();
  void TellOfPauses(Thread& thread);
  void WantSweep(Thread& thread);
  Status Sweep();
  std::uint64_t SweepPart(Table& table, Rank rank);
  void SetCourse(Course course);
  void LetWork();
  Result<bool> GoOn();
  Status Repair();
  bool AnotherHasDied();
  Status Quiesce();
  void Boundary(Stage stage);
  void RepairBoundary(std::uint32_t step);

  Cluster& cluster_;
  const Protocol& protocol_;
  EngineOptions options_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Thread>> threads_;

  View view_;
  std::unique_ptr<Replication> replication_;
  std::unique_ptr<Durability> durability_;
  mutable std::mutex lost_mutex_;
  std::vector<NodeId> lost_;                // in the order of word of it
  std::atomic<std::uint32_t> losses_{0};    // their number
  std::atomic<std::uint32_t> repaired_{0};  // behind so many of them all is in order again
  std::uint32_t round_ = 0;                 // of threads: from one rest to the next
  std::vector<AtRest> at_rest_;             // node 0: what each thread of all nodes has told
  std::atomic<std::uint32_t> losses_at_stop_{0};
  std::atomic<std::uint32_t> pauses_wanted_{0};  // on node 0, which tells the others
  std::uint32_t pauses_told_ = 0;                // by its first thread
  std::atomic<std::uint32_t> pauses_done_{0};
  std::atomic<std::uint32_t> pauses_at_stop_{0};
  std::atomic<std::uint32_t> sweeps_wanted_{0};
  std::atomic<std::uint32_t> sweeps_done_{0};
  std::atomic<std::uint32_t> sweeps_at_stop_{0};
  std::mutex pause_mutex_;
  std::condition_variable pause_turn_;
  std::atomic<Course> course_{Course::kBefore};  // changed under the mutex
  // Of whoever wants a pause: that it does, and of which number once that is agreed on.
  bool wants_pause_ = false;
  std::uint32_t pause_ = 0;
  bool paused_ = false;  // it is the work's turn
  std::atomic<std::uint64_t> boundaries_{0};
  double repair_s_ = 0;
  std::uint64_t swept_ = 0;
  std::shared_mutex places_;  // of tuples: changed by sweeps

  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> deadline_ns_{~std::uint64_t{0}};
  Figures figures_;
  bool loss_watch_set_ = false;
  LossWatch loss_watch_;
};

}  // namespace slimgraph::txn
