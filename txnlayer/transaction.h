// The transactions of a coroutine, one after the other: begin, read and write, commit or abort.
//
//   transaction.Begin();
//   Access* const from = transaction.Write(accounts, 1);
//   Access* const to = transaction.Write(accounts, 2);
//   if (from == nullptr || to == nullptr) …            it was aborted: see reason()
//   from->Put(from->Get<long>() - 5); to->Put(to->Get<long>() + 5);
//   if (!transaction.Commit()) …                       the same
#pragma once

#include <bitset>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "txnlayer/engine.h"
#include "txnlayer/internal/durability/ledger_writer.h"
#include "txnlayer/internal/replication/log_writer.h"
#include "txnlayer/internal/store/record.h"

namespace slimgraph::txn {

struct Want {
  Table* table = nullptr;
  Key key = 0;
  bool write = false;
  bool write_later = false;  // it is read now and written later
};

// The tuple at which a transaction met a conflicting one.
struct Conflict {
  Stage stage = Stage::kRead;
  const Table* table = nullptr;  // null: no conflict
  Key key = 0;
};

class Transaction {
 public:
  Transaction(Engine& engine, Task& task, std::uint32_t thread);
  ~Transaction();

  Engine& engine() { return engine_; }
  Task& task() { return task_; }
  // This coroutine's number among all coroutines of the job.
  std::uint64_t process() const { return process_; }
  // The number of this node's first coroutine.
  std::uint64_t first_process() const;
  // How many coroutines the job has.
  std::uint64_t processes() const;

  // `again`: a retry of the work that was aborted before. `now_ns`: the time of NowNs(), if the
  // caller has just read it. `only_reads`: it will write nothing. With read timestamps it then
  // reads the state of one moment (stages/read_at.h).
  void Begin(bool again = false, std::uint64_t now_ns = NowNs(), bool only_reads = false);

  // Read the tuples; a tuple to be written may be changed in place until Commit(). A key without a
  // record reads as one that does not exist(), and a write inserts the record. Null or false: the
  // transaction was aborted.
  Access* Read(Table& table, Key key);
  Access* Write(Table& table, Key key);
  // All at once. `out` has room for one access per want.
  bool Fetch(std::span<const Want> wants, Access** out);
  // Requests the tuples and returns before they arrive. Meanwhile the transaction may do what
  // depends on none of them, such as further requests. It must not read or write them before
  // FinishFetch(), which waits for all. Fetch() and Commit() wait for them too.
  bool StartFetch(std::span<const Want> wants, Access** out);
  bool FinishFetch();

  // Under a protocol that fetches once: gives all tuples back, and from then on only looks. What it
  // fetches is read as it is just then, and belongs to no one state. It holds nothing, and never
  // commits: its end has the reason kUnnamed.
  void Look();
  bool looks() const { return looks_; }

  // Deletes: the record is absent once the transaction has committed.
  static void Delete(Access& access) { access.SetExists(false); }

  // The first step of Commit(), for callers that do something before the others: whatever commits
  // before a moment between commits (engine.h) has passed this before it. False: aborted.
  bool EnterCommit();
  bool Commit();
  void Abort(AbortReason reason = AbortReason::kUser);
  // Checks what Commit() would check, and then aborts. False: the check has failed, so the
  // transaction may have read what no serial order gives. See reason().
  bool AbortIfConsistent();
  // Why it was aborted. After a refusal, a retry would fail as well.
  AbortReason reason() const { return reason_; }
  const Conflict& conflict() const { return conflict_; }

  // Randomised exponential backoff before the next attempt.
  void BackOff(std::uint32_t tries);

  // Between transactions: waits until that time of NowNs().
  void IdleUntil(std::uint64_t ns);
  // Whether all transactions are to come to rest. An open one should then end soon. Between
  // transactions, RestIfWanted() waits until the rest is over.
  bool rest_wanted() const { return begin_blocked(); }
  void RestIfWanted();

  // Waits until nothing is under way any more.
  void Drain();

  Figures& figures() { return figures_; }

  // --- for protocols
  bool one_sided(Stage stage) const { return stages_.one_sided(stage); }
  // Takes all steps of a stage on these tuples. False: the transaction must abort.
  bool RunStage(Stage stage, std::span<Access* const> accesses);
  // Takes the first step of the tuples' first stage, and does not wait for its results: RunStage()
  // does. False: the transaction must abort.
  bool StartStage(Stage stage, std::span<Access* const> accesses);
  // Runs the last stage, which cannot fail. Does not wait for its end where that is allowed.
  void RunLastStage(Stage stage, std::span<Access* const> accesses);
  // Sets the reason for which the transaction is to be aborted.
  void SetAbortReason(AbortReason reason) { reason_ = reason; }
  // The same, as the table has no room for that tuple.
  void SetTableFull(const Access& access) {
    reason_ = AbortReason::kTableFull;
    conflict_ = {Stage::kRead, access.table, access.key};
    no_placeholder_room_ = access.only_reads();
  }
  // Whether it may lock that tuple together with other readers. The tuple's home changes the lock
  // for it: it runs there, or all that it does with the lock goes by message. Not after
  // StopSharing(), which holds for all retries, until the transaction commits or its caller stops
  // retrying.
  bool ReadsShared(const Access& access) const {
    return shares_ && by_processor_ && !access.write && (!Remote(access) || LocksByMessage());
  }
  void StopSharing() { shares_ = false; }
  // Whether it may take a lock and read the record by one round trip: both stages have the same
  // form, and tuples need not be asked for. Retries, and the transactions after one that has found
  // such a lock taken, rather wait for locks while they hold none.
  bool LocksAndReads() const {
    return !reads_first_ && !stages_.asks() && one_sided(Stage::kRead) == one_sided(Stage::kLock);
  }
  // With read timestamps, when it has read all tuples and locked those that it writes, and before
  // it validates the others: sets the commit time. False: aborted.
  bool ChooseCommitTime();
  // With read timestamps, under protocols that commit at timestamps, when it holds its locks: makes
  // ready to keep the versions that it replaces. False: aborted.
  bool CommitAtTimestamp();
  // The forms of this transaction's stages.
  void SetStages(const StageCode& stages) { stages_ = stages; }
  // Counts a run of the stage, which began at the tick `start` and ended now.
  void NoteTime(Stage stage, std::uint64_t start);
  // Counts operations that nobody waits for. The transaction's memory is kept until they have
  // ended.
  Pending& UnawaitedOperations() { return frame_->pending; }
  Companion& companion();
  std::span<Access* const> accesses() const { return frame_->accesses; }
  std::span<Access* const> reads();
  std::span<Access* const> writes();
  std::span<Access* const> locked();
  std::span<Access* const> WritesAmong(std::span<Access* const> accesses);
  // An empty list, valid until the next call.
  std::vector<Access*>& Scratch();

 private:
  // A request and the accesses it contains.
  struct Request {
    Call call;
    std::vector<Access*> accesses;
    std::size_t bytes = 0;  // of the items, in the request or the reply, whichever is longer
  };
  // The memory of an access and its image, reused by later transactions.
  struct AccessSlot {
    Access access;
    std::unique_ptr<std::byte[]> image;
    std::uint64_t image_bytes = 0;
    std::unique_ptr<std::byte[]> kept;  // see Access::kept
  };
  // The memory of a transaction, in use until nothing of it is under way.
  struct Frame {
    std::vector<Access*> accesses;
    std::vector<Access*> upgraded;  // absent at the read, and then to be written
    std::vector<Access*> reread;    // read without a lock, and then to be written
    std::size_t arrived = 0;        // how many of `accesses` Fetch() has taken
    std::bitset<256> marks;         // of their keys; an unset bit: no access has such a key
    // Hash table of indices plus one; empty: there are few accesses.
    std::vector<std::uint32_t> index;
    std::vector<std::unique_ptr<AccessSlot>> slots;
    std::deque<Request> requests;
    std::size_t requests_used = 0;
    std::size_t requests_sent = 0;     // how many of those used were sent
    std::shared_ptr<LogEntry> logged;  // null: it has written nothing, or nothing is replicated
    Record record;                     // the log record, whose copies are in `records`
    std::deque<LogWriter::Outgoing> records;
    LedgerWriter::Outgoing in_ledger;
    Pending pending;
  };

  Access* Find(const Table& table, Key key) const;
  // Finds the accesses of the wanted tuples, and appends new ones.
  void AddAccesses(std::span<const Want> wants, Access** out);
  Access* NewAccess(const Want& want);
  bool Outlasts(bool writes);
  bool EndLooks();
  void LeaveCommit();
  void End();
  // For read timestamps: times.cc.
  void BeginReading(std::uint64_t now_ns);
  void EndReading();
  Timestamp TimeAfterTuples();
  bool Count(Timestamp& time);
  void ReadCounters(std::uint64_t at, std::span<Timestamp> counters);
  void PostReadingAt(Port& port, Access& access);
  Step CheckReadingAt(Access& access, Step answered) const;
  void NoteAhead(Timestamp seen) const;
  void CopyReplaced(std::span<Access* const> accesses);
  void KeepReplaced(Access& access);
  void FindHorizon();
  bool FetchUpgraded();
  bool FetchUnlocked();
  void NoteUpgrade(Access* access);
  void AddToIndex(std::uint32_t number);
  bool TakeFrame();
  void Fail(AbortReason reason);
  // Whether no transaction may begin now.
  bool begin_blocked() const;
  bool rest_expected() const;
  void RestUntilReleased();
  bool Abandoned();
  // Logs the writes to disk and at backups, as far as configured. False: that is impossible.
  // log_stage.cc.
  bool Log();
  bool LogAtBackups();
  void LogToDisk();
  bool LogToLedger();
  void AwaitEndIfLedgerFails();
  std::vector<NodeId> Backups(std::span<Access* const> writes) const;
  bool Remote(const Access& access) const { return access.home != near_; }
  // With read timestamps: whether the version that is replaced is not copied at its home, but sent.
  bool SendsReplaced(const Access& access) const {
    return one_sided(Stage::kCommit) && (!by_processor_ || Remote(access));
  }
  bool LocksByMessage() const {
    return !one_sided(Stage::kLock) && !one_sided(Stage::kCommit) && !one_sided(Stage::kRelease);
  }
  struct Lookup {
    Access* access;
    std::uint64_t at;
    std::uint64_t changes;
    Bucket bucket;
  };
  bool Locate(Stage stage, std::span<Access* const> accesses);
  bool LocateAfar();
  bool FoundOrAbsent(Lookup& lookup);
  bool RunTogether(Stage stage, std::span<Access* const> accesses);
  void PostRound(Stage stage, bool wait);
  void TakeReplies(std::size_t first = 0);
  void FinishStarted();
  void AddToRequest(std::uint16_t what, Access& access);
  void SendRequests(bool wait);
  Step::Kind CheckRound(Stage stage);
  void WaitBeforeRecheck(std::uint32_t round);
  std::uint64_t Draw();

  Engine& engine_;
  Task& task_;
  Engine::Thread& thread_;
  const NodeId self_;
  // The node whose tuples are accessed at once: this one or, without that optimisation, none.
  const NodeId near_;
  const bool by_processor_;  // atomics of the processor work on the own node
  const bool orders_;        // Protocol::commits_at_timestamp()
  bool shares_ = true;
  bool reads_first_ = false;
  std::uint32_t left_to_read_first_ = 0;  // how many of the next transactions read first
  std::uint32_t after_conflict_ = 0;      // how many do so after the next conflict
  Owner owner_;
  std::uint64_t process_;
  Timestamp timestamp_ = 0;
  std::uint64_t began_ns_ = 0;
  StageCode stages_;
  AbortReason reason_ = AbortReason::kNone;
  Conflict conflict_;
  bool open_ = false;
  bool looks_ = false;
  bool only_reads_ = false;           // at the time timestamp_
  Timestamp reading_since_ = 0;       // by the clock
  std::vector<Timestamp> sees_;       // see Access::sees
  Timestamp counted_ = 0;             // the source or the result of an operation on a counter
  bool in_commit_ = false;            // it has passed the gate
  std::uint32_t moment_ = 0;          // the last one before its begin
  std::uint32_t overtaken_ = 0;       // how many moments have aborted it since its first attempt
  std::uint64_t shelter_ns_ = 0;      // for how long the next ones shall wait for it
  bool sheltered_ = false;            // they do
  std::uint32_t sweeps_asked_ = 0;    // since its first attempt
  std::uint32_t growths_seen_ = 0;    // how often tables had grown then
  bool no_placeholder_room_ = false;  // it aborted as there was no room for a placeholder
  std::uint64_t random_;
  std::vector<std::unique_ptr<Frame>> frames_;  // the last one is the current transaction's
  Frame* frame_ = nullptr;

  // The stage that is being run.
  std::vector<Access*> todo_;
  std::vector<Access*> next_;
  std::vector<Step> steps_;  // of todo_, where the home has taken them
  std::vector<Access*> begun_;
  std::vector<Access*> missing_;  // their locations are unknown
  std::vector<Lookup> lookups_;
  Stage begun_stage_ = Stage::kRead;

  std::vector<Access*> reads_;
  std::vector<Access*> writes_;
  std::vector<Access*> locked_;
  std::vector<Access*> among_;
  std::vector<Access*> scratch_;
  Figures& figures_;
};

}  // namespace slimgraph::txn
