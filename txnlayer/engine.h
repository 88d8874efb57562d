// Transactions on a cluster: the tables, the protocol, and the threads and coroutines that run
// transactions. Open this header first, then transaction.h.
//
// Every node makes the same engine and the same tables. Compute nodes run transactions, and all
// nodes hold tuples. A node's threads serve two-sided stages of other nodes while their own
// coroutines run, and sleep when there is nothing to do.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/cluster.h"
#include "txnlayer/internal/durability/ledger_options.h"
#include "txnlayer/internal/engine/commit_gate.h"
#include "txnlayer/internal/engine/figures.h"
#include "txnlayer/internal/engine/quiescence.h"
#include "txnlayer/internal/replication/replication.h"
#include "txnlayer/internal/stages/tables.h"
#include "txnlayer/internal/store/location_cache.h"

namespace slimgraph::txn {

class Durability;
class AsideOwner;
class RpcServer;
struct LogSubject;

// Requests from this number on belong to the protocol's companion.
constexpr std::uint16_t kFirstCompanionRequest = 32;

// The id under which traffic counters count a stage.
StageId TrafficStage(Stage stage);

// Fault injection: a node kills itself (SIGKILL) when its transactions have reached the end of that
// stage `times` times.
struct Death {
  std::optional<NodeId> node = {};
  Stage stage = Stage::kRead;
  std::uint64_t times = 1;
};

// Fault injection: a node dies at the end of that step of the repair after another death.
struct DeathInRepair {
  static constexpr std::uint32_t kSteps = 5;
  std::optional<NodeId> node = {};
  std::uint32_t step = 1;
};

struct EngineOptions {
  StageCode stages = {};
  bool base_one_sided = false;   // a graph's base is read one-sided, whatever the stage code says
  bool mix_stages = false;       // each transaction draws a stage code at random, to test all forms
  std::uint32_t coroutines = 1;  // of each thread
  // How many coroutines Configure() may choose; 0: no more than `coroutines`. Protocols that keep
  // memory for each coroutine have as much.
  std::uint32_t most_coroutines = 0;
  // The number of nodes that hold each partition. With R of them, R-1 nodes may die.
  std::uint32_t replicas = 1;
  // The size of the log that each thread has at each backup. A record takes at most a quarter of
  // it.
  std::uint64_t log_bytes = 256 << 10;
  // With read timestamps: the room of each thread on each node for versions that were replaced; 0:
  // as usual.
  std::uint64_t version_bytes = 0;
  LedgerOptions ledger = {};
  std::uint64_t table_bytes = 0;  // the most that the tables of a node take; 0: what the node has
  // Called on node 0 in a run, by a thread of the engine: a table grows no further, so transactions
  // will be refused when it is full. Once for each table.
  std::function<void(const std::string&)> on_last_room = {};
  Death death = {};
  DeathInRepair death_in_repair = {};
  // Fault injection, with read timestamps: by how much this node's clock is ahead of the others.
  std::uint64_t clock_ahead_us = 0;
  // The optimisations. Each can be switched off to measure its effect.
  bool outstanding = true;  // outstanding requests: several tuples are requested at a time
  bool doorbells = true;    // doorbell batching: operations on a tuple go out together
  bool passive = true;      // passive ACK: nobody waits for the end of a commit or a release
  // A transaction continues after it has requested tuples, until it needs them.
  bool speculation = true;
  bool own_home = true;                 // tuples of the own node are accessed at once, as memory
  std::uint64_t cache_bytes = 4 << 20;  // of each thread's location cache; 0: none
};

// Switches off the optimisations listed in `words`, separated by commas: outstanding, doorbells,
// passive, speculation, cache, own-home.
Status SwitchOff(std::string_view words, EngineOptions& options);

Status CheckCoroutines(std::uint32_t coroutines);
Status CheckReplicas(std::uint32_t replicas, NodeId nodes);
Status CheckLogBytes(std::uint64_t bytes);
Status CheckVersionBytes(std::uint64_t bytes);
Status CheckDeaths(const EngineOptions& options, NodeId nodes, const Protocol& protocol);

// The error of a fold that needs more tuples than a table has room for.
Error TableFullError();

class Engine {
 public:
  // `protocol` must outlive the engine.
  static Result<std::unique_ptr<Engine>> Make(Cluster& cluster, const Protocol& protocol,
                                              const EngineOptions& options);
  ~Engine();

  Cluster& cluster() { return cluster_; }
  NodeId self() const { return cluster_.self(); }
  const Protocol& protocol() const { return tables_.protocol(); }
  const EngineOptions& options() const { return options_; }
  // Whether read-only transactions read at a time (stages/read_at.h).
  bool timed() const { return protocol().shape().timestamps != Timestamps::kNone; }
  // Changes stages, coroutines and optimisations. Between runs, with equal options on all nodes. An
  // error if there are more coroutines than the most that Make() was told.
  Status Configure(const EngineOptions& options);

  // Add tables before the first run.
  Tables& tables() { return tables_; }
  const Tables& tables() const { return tables_; }
  // Null when nothing is replicated.
  Replication* replication() { return replication_.get(); }

  // Collective, when the tables are filled and before any run. Recovers what the logs in `folder`
  // hold. From here on, a transaction commits only when its record is on disk. `subject` describes
  // the tables' initial contents.
  Status KeepLogs(const std::string& folder, const LogSubject& subject,
                  AsideOwner* aside = nullptr);
  // Null: no log is kept on disk.
  Durability* durability() { return durability_.get(); }

  // The thread of the key's home that serves its requests.
  EndpointAddress ServerOf(const Table& table, Key key) const;

  // Collective. On compute nodes `body` runs once in each coroutine. Returns when it has ended on
  // all nodes and nothing is under way any more. `figures()` are then this node's. A run sees all
  // that earlier runs have committed.
  //
  // With replicas, nodes other than 0 may die during a run. Transactions that have not committed
  // are then aborted, all threads come to rest, and partitions move to other nodes. Then the
  // remaining coroutines continue.
  using Body = std::function<void(Transaction&)>;
  Status Run(const Body& body);
  const Figures& figures() const { return figures_; }

  // For bodies of transactions that run on threads outside the engine (graph/graph_host.h); call it
  // before KeepLogs(). `turn` is called in every turn of the loop of each thread; Endpoint::Wake()
  // makes one come soon. When a node is lost, or FailJob() is called, Run() fails at once on this
  // node. Its coroutines are never resumed then.
  void HostOutside(std::function<void(Worker&)> turn);
  // Ends the job because of this node's error. In a job of one node that hosts outside threads,
  // only the run ends. From any thread.
  void FailJob(const Error& error);

  // Stops the world: `work` runs on every node while no transaction is under way anywhere.
  // Transactions that have begun end first, and no other begins before `work` has returned
  // everywhere. Collective; call it from another thread than Run()'s, with a separate cluster of
  // all nodes that live. Waits for the run to begin. Returns false on all nodes, and does not call
  // `work`, when the run ends first or has ended. Fails when a node of the cluster dies before all
  // nodes are done.
  Result<bool> StopTheWorld(Cluster& cluster, const std::function<Status()>& work);
  // A moment between commits: `work` runs on every node while no commit is under way anywhere.
  // Transactions go on, and others begin, but those that have written something wait before they
  // commit. `work` gets the largest timestamp that this node knows, and whether the run is over. It
  // returns the largest that any node knows: transactions that begin after the moment have later
  // ones. Those that have begun before, and may not outlast the moment (Protocol), are aborted when
  // they want to commit. Collective, and waits for the run to begin, like StopTheWorld().
  // Returns for how many seconds commits of this node waited.
  using BetweenCommitsWork = std::function<Result<Timestamp>(Timestamp latest, bool over)>;
  Result<double> BetweenCommits(Cluster& cluster, const BetweenCommitsWork& work);
  // Before such a moment: waits for transactions of this node that earlier moments have aborted
  // more than once, for some seconds at most.
  void AwaitSheltered(Cluster& cluster);
  // Waits for the end of the run, or for EndRuns().
  void AwaitRunEnd();
  // The same for at most `limit`. Returns whether the end has come.
  bool AwaitRunEnd(std::chrono::milliseconds limit);
  // Announces a run. Until it begins, StopTheWorld() waits, and so does AwaitRunEnd() until it has
  // ended.
  void ExpectRun() { SetCourse(Course::kBefore); }
  // No run will come any more: whatever waits for one is told so.
  void EndRuns();
  // While the world is stopped, on every node: latest() is the largest timestamp that this node
  // knows. After AdvanceClocksPast(), new transactions have timestamps above `latest`, and so see
  // the latest version of everything.
  Timestamp latest() const;
  void AdvanceClocksPast(Timestamp latest);
  // While the world is stopped, on every node: makes all copies equal to their partitions, so that
  // no replication log is needed any more.
  void ApplyLogs();
  // While the world is stopped, on every node: discards all locations of tuples and all references
  // to them, so that tables may be cleared.
  void ForgetTuples();

  // When the run should end, as a time of NowNs(): long bodies check over(). From any thread.
  void SetDeadline(std::uint64_t ns) { deadline_ns_.store(ns, std::memory_order_relaxed); }
  bool over(std::uint64_t now_ns = NowNs()) const {
    return failed_ || now_ns >= deadline_ns_.load(std::memory_order_relaxed);
  }
  // Whether all nodes are in Run(), and so survive a death if there are replicas. From any thread.
  bool running() const { return course_ == Course::kRunning; }
  // A node has died, and no transaction may begin before the repair is complete.
  bool repairing() const { return quiescence_.pending(Quiescence::kDeath); }
  // The total time of repairs in the last run.
  double repair_s() const { return repair_s_; }
  // While this lock is held, tuples do not move. For threads that read tables beside the
  // transactions; they must not wait for another node meanwhile.
  std::shared_lock<SharedMutex> HoldTuples() { return std::shared_lock(tuple_positions_); }
  // How many sweeps there were so far, how many tuples of this node they removed, and how often a
  // table has got more room.
  std::uint32_t sweeps() const { return quiescence_.done(Quiescence::kSweep); }
  std::uint64_t swept() const { return swept_; }
  std::uint32_t growths() const { return growths_; }
  // Which node holds which partition now. From any thread.
  View view() const;
  // The nodes that have died.
  std::vector<NodeId> lost() const { return quiescence_.dead(); }

 private:
  friend class Transaction;
  struct Thread;
  enum class Course : std::uint8_t { kBefore, kRunning, kOver };
  Engine(Cluster& cluster, const Protocol& protocol, const EngineOptions& options);
  Status RunThread(std::uint32_t thread);
  Status RunRounds();
  void AddTasks(const Body& body);
  void HostOutsideOn(Thread& thread);
  void EndRunWith(const Error& error);
  // sweep.cc.
  bool SweepMayHelp(const Table& table) const;
  void AskForRoom(const Table& table);
  struct SweepPlan;
  Result<std::vector<SweepPlan>> PlanSweep();
  void TellLastRoom(const std::vector<SweepPlan>& plans);
  Status Sweep();
  Status SweepTables();
  std::uint64_t CountRecords(const Table& table, Rank rank) const;
  std::uint64_t SweepPart(Table& table, Rank rank);
  void SetCourse(Course course);
  void TellStoppers();
  void RunWorkInStoppedWorld();
  Result<bool> PrepareNextRound();
  // repair.cc.
  Status Repair();
  Status RepairAfter(const std::vector<NodeId>& lost);
  bool AnotherHasDied();
  Status ResetCompanions();
  Status AlignClocks();
  void MaybeDieAfter(Stage stage);
  void MaybeDieInRepair(std::uint32_t step);

  Cluster& cluster_;
  EngineOptions options_;
  Tables tables_;
  std::vector<std::unique_ptr<Thread>> threads_;

  std::unique_ptr<Replication> replication_;
  std::unique_ptr<Durability> durability_;
  Quiescence quiescence_;
  CommitGate gate_;
  mutable Mutex stop_mutex_;
  Condition stop_changed_;
  std::atomic<Course> course_{Course::kBefore};  // changed under the mutex
  // Whether a thread is in StopTheWorld(), and the number of its stop, once all nodes have agreed
  // on it.
  bool wants_stop_ = false;
  std::uint32_t stop_number_ = 0;
  bool world_stopped_ = false;  // the world is stopped, and `work` may run
  std::atomic<std::uint64_t> stages_ended_{0};
  double repair_s_ = 0;
  bool sweep_interrupted_ = false;  // by a death
  std::uint64_t swept_ = 0;
  std::uint32_t growths_ = 0;
  std::vector<std::uint64_t> no_sweep_before_ns_;  // by table; changed between rounds
  std::vector<bool> told_last_room_;               // by table
  std::atomic<std::uint64_t> asked_for_room_{0};   // a bit for each table
  SharedMutex tuple_positions_;                    // the positions of tuples, which sweeps change

  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> deadline_ns_{~std::uint64_t{0}};
  std::function<void(Worker&)> outside_turn_;
  std::atomic<bool> run_ended_{false};
  std::optional<Error> run_error_;  // why the run ends at once; under stop_mutex_
  LossWatch outside_watch_;

  Figures figures_;
  bool loss_watch_set_ = false;
  LossWatch loss_watch_;
  std::vector<HandlerRegistration> handlers_;
};

}  // namespace slimgraph::txn
