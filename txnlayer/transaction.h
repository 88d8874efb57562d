// One transaction after the other of a coroutine: begin, read and write, commit or abort.
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
#include "txnlayer/record.h"
#include "txnlayer/replication/log_writer.h"

namespace slimgraph::txn {

struct Want {
  Table* table = nullptr;
  Key key = 0;
  bool write = false;
  bool soon = false;  // it is read, to be written later
};

// Where a transaction has met another that was in its way.
struct Conflict {
  Stage stage = Stage::kRead;
  const Table* table = nullptr;  // null: it has met none
  Key key = 0;
};

class Transaction {
 public:
  Transaction(Engine& engine, Task& task, std::uint32_t thread);
  ~Transaction();

  Engine& engine() { return engine_; }
  Task& task() { return task_; }
  // This coroutine's number among all of the job.
  std::uint64_t process() const { return process_; }
  // The number of this node's first.
  std::uint64_t first_process() const;

  // `again`: the same work that was aborted before. `now_ns`: where a time of NowNs() is at hand.
  void Begin(bool again = false, std::uint64_t now_ns = NowNs());

  // The tuples, each read; those to be written may be changed in place until Commit(). A key that
  // has no record reads as one that does not exist(), and is inserted by writing it. Null, or
  // false, when the transaction was aborted.
  Access* Read(Table& table, Key key);
  Access* Write(Table& table, Key key);
  // All at once. `out` has room for as many.
  bool Fetch(std::span<const Want> wants, Access** out);
  // Goes on before they are there: what depends on none of them, further requests included, is done
  // while they are on their way. Nothing of them is looked at, nor written, before Arrive(), which
  // waits for all. Fetch() and Commit() do the same.
  bool Ask(std::span<const Want> wants, Access** out);
  bool Arrive();

  // Deletes: the record is absent once the transaction has committed.
  static void Delete(Access& access) { access.SetExists(false); }

  bool Commit();
  void Abort(AbortReason reason = AbortReason::kUser);
  // Why it was aborted.
  AbortReason reason() const { return reason_; }
  const Conflict& conflict() const { return conflict_; }

  // Waits for a random time that grows with the number of tries in vain.
  void BackOff(std::uint32_t tries);

  // Between transactions: waits until that time of NowNs().
  void IdleUntil(std::uint64_t ns);

  // Waits for the end of all that is under way.
  void Drain();

  Figures& figures() { return figures_; }

  // --- for protocols
  bool one_sided(Stage stage) const { return stages_.one_sided(stage); }
  // Takes all steps of a stage at these tuples. False: the transaction must abort.
  bool Run(Stage stage, std::span<Access* const> accesses);
  // Takes the first step of their first stage, and does not wait for what it brings: Run() will.
  // False: the transaction must abort.
  bool Start(Stage stage, std::span<Access* const> accesses);
  // The last stage, which cannot fail. Does not wait for its end where that is allowed.
  void RunLast(Stage stage, std::span<Access* const> accesses);
  // The transaction is to be aborted, for that reason.
  void Doom(AbortReason reason) { reason_ = reason; }
  // Whether it reads that tuple together with others: at home, and where it has not said that it
  // wants tuples to itself, which holds until it has committed or is given up.
  bool Shares(const Access& access) const {
    return shares_ && by_processor_ && !access.write && !Remote(access);
  }
  void ShareNothing() { shares_ = false; }
  // Its stages go in these forms.
  void SetStages(const StageCode& stages) { stages_ = stages; }
  // That stage has begun then, in ticks, and ended now.
  void NoteTime(Stage stage, std::uint64_t start);
  // Counts what nobody waits for; the transaction's memory stays until it is through.
  Pending& Lingering() { return frame_->pending; }
  Companion& companion();
  std::span<Access* const> accesses() const { return frame_->accesses; }
  std::span<Access* const> reads();
  std::span<Access* const> writes();
  std::span<Access* const> locked();
  std::span<Access* const> WritesAmong(std::span<Access* const> accesses);
  // An empty list, valid until the next call.
  std::vector<Access*>& Scratch();

 private:
  // A request with the accesses that it is about.
  struct Asked {
    Call call;
    std::vector<Access*> accesses;
  };
  // Where accesses are, one after the other, with their images.
  struct Place {
    Access access;
    std::unique_ptr<std::byte[]> image;
    std::uint64_t image_bytes = 0;
  };
  // The memory of a transaction, in use until nothing of it is under way.
  struct Frame {
    std::vector<Access*> accesses;
    std::vector<Access*> upgraded;     // to be written, and had no place
    std::size_t arrived = 0;           // so many of them are there, or Fetch() has them in hand
    std::bitset<256> marks;            // of their keys; where there is none, there is no access
    std::vector<std::uint32_t> index;  // places among them plus one, by hash; empty: they are few
    std::vector<std::unique_ptr<Place>> places;
    std::deque<Asked> asked;
    std::size_t asked_used = 0;
    std::size_t asked_sent = 0;        // of those used
    std::shared_ptr<LogEntry> logged;  // null: it has written nothing, or nothing is replicated
    Record record;                     // of what is logged, and its copies on their way
    std::deque<LogWriter::Outgoing> records;
    Pending pending;
  };

  Access* Find(const Table& table, Key key) const;
  // Which accesses these are. Those that are new follow the others.
  void Name(std::span<const Want> wants, Access** out);
  Access* NewAccess(const Want& want);
  bool FetchUpgraded();
  void AddToIndex(std::uint32_t number);
  void TakeFrame();
  void Fail(AbortReason reason);
  // Whether no transaction may begin now.
  bool held_up() const;
  bool awaits_word() const;
  void AwaitView();
  bool Abandoned();
  // What will be written is made known, on disk and to backups, as far as that is wanted; false: it
  // cannot be. log_stage.cc.
  bool Log();
  bool TellBackups();
  void Keep();
  std::vector<NodeId> Backups(std::span<Access* const> writes) const;
  bool Remote(const Access& access) const { return access.home != self_; }
  struct Lookup {
    Access* access;
    std::uint64_t at;
    std::uint64_t changes;
    Bucket bucket;
  };
  bool Locate(bool one_sided, std::span<Access* const> accesses);
  bool LocateAfar();
  bool FoundOrAbsent(Lookup& lookup);
  bool RunTogether(Stage stage, std::span<Access* const> accesses);
  void PostRound(Stage stage, bool wait);
  void TakeReplies(std::size_t first = 0);
  void EndBegun();
  void Ask(std::uint16_t what, Access& access);
  void SendAsked(bool wait);
  Step::Kind Sift(Stage stage);
  void Pause(std::uint32_t round);
  std::uint64_t Draw();

  Engine& engine_;
  Task& task_;
  Engine::Thread& thread_;
  const NodeId self_;
  const bool by_processor_;  // atomics on the own node
  bool shares_ = true;
  std::uint64_t owner_;
  std::uint64_t process_;
  Timestamp timestamp_ = 0;
  std::uint64_t began_ns_ = 0;
  StageCode stages_;
  AbortReason reason_ = AbortReason::kNone;
  Conflict conflict_;
  bool open_ = false;
  std::uint32_t full_ = 0;  // how often a table has been full since a commit
  std::uint64_t random_;
  std::vector<std::unique_ptr<Frame>> frames_;  // the last one is the current transaction's
  Frame* frame_ = nullptr;

  // Of the stage that is being run.
  std::vector<Access*> todo_;
  std::vector<Access*> next_;
  std::vector<Step> steps_;  // of todo_, where the home has taken them
  std::vector<Access*> begun_;
  std::vector<Access*> missing_;  // whose places are to be found out
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
