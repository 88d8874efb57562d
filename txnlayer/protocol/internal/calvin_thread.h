// A thread's part in CALVIN: it is the sequencer of its own transactions and the scheduler of its
// tuples.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <deque>
#include <list>
#include <vector>

#include "txnlayer/engine.h"
#include "txnlayer/internal/stages/companion.h"
#include "txnlayer/protocol/internal/calvin_queues.h"

namespace slimgraph::txn {

class CalvinThread : public Companion {
 public:
  // Collective.
  static Result<std::unique_ptr<CalvinThread>> Make(Engine& engine, Worker& worker);

  // --- for the thread's coroutines, each of which has one transaction at a time.
  // kRead: also the tuples that are named to be written are only read.
  enum class Accesses : bool { kAsNamed, kRead };
  void Submit(std::uint32_t coroutine, std::span<Access* const> accesses, Accesses which);
  // The coroutine's transaction, while it waits for values and runs.
  struct Running {
    std::uint64_t number = 0;
    std::vector<Access*> accesses;         // none: it has ended, or is abandoned
    boost::dynamic_bitset<> missing = {};  // the accesses whose values have not arrived
    std::uint64_t submitted = 0;           // in ticks
    std::uint64_t epoch = 0;               // in which it was broadcast
    Pending scheduled;                     // until all batches of that epoch have arrived
    Pending values;                        // until all values have arrived
  };
  Running& RunningIn(std::uint32_t coroutine) { return running_[coroutine]; }
  // The forms of an epoch's batches and of the values and ends of its transactions. With mixed
  // stages, groups of epochs with all stages two-sided and all stages one-sided alternate.
  StageCode StagesOf(std::uint64_t epoch) const;
  // Ends the coroutine's transaction: releases its tuples, and writes them if it commits. Its
  // one-sided writes count in `pending`.
  void Finish(std::uint32_t coroutine, std::span<Access* const> accesses, bool commit,
              Pending& pending);

  void Serve(const Message& message) override;
  std::chrono::nanoseconds Work() override;
  void BeforeSleep() override;
  // The ends of some transactions may have been written here without having been polled.
  void ForgetTuples() override { PollEnds(); }
  void OnDeath() override;
  void Reset(std::uint32_t round) override;

 private:
  using TupleLocation = CalvinQueues::TupleLocation;
  using Request = CalvinQueues::Request;
  // A transaction that holds or waits for tuples of this thread, and the last of its requests.
  struct QueuedTransaction {
    std::size_t sequencer;
    std::uint32_t coroutine;
    std::uint64_t number;
    // Its end is a word in memory, not a message; a later word may overtake a message.
    bool ends_by_word;
    CalvinQueues::Id requests;
  };
  // The batches of an epoch, by sequencer.
  struct Batches {
    std::vector<std::vector<std::byte>> of;
    std::vector<bool> there;
    std::size_t count = 0;
  };
  // The source of one-sided writes, which must stay unchanged until they have ended.
  struct Outgoing {
    Pending pending;
    std::vector<std::byte> bytes;
    std::uint64_t words[2] = {};
  };

  static constexpr std::size_t kNobody = ~std::size_t{0};
  // Long enough that leftovers of the previous group hardly distort the measurement.
  static constexpr std::uint64_t kEpochsOfAForm = 64;

  CalvinThread(Engine& engine, Worker& worker);
  std::size_t ServerOf(const Access& access) const;
  std::size_t NumberOf(EndpointAddress thread) const {
    return std::size_t{thread.node} * threads_ + thread.endpoint;
  }
  EndpointAddress Thread(std::size_t number) const {
    const auto thread = static_cast<std::uint32_t>(number);
    return {thread / threads_, thread % threads_};
  }
  bool Alive(std::size_t number) const {
    return engine_.tables().view().alive(Thread(number).node);
  }
  void Abandon(Running& running);
  // Whether the stage may be one-sided in some epoch.
  bool one_sided(Stage stage) const {
    return engine_.options().mix_stages || engine_.options().stages.one_sided(stage);
  }
  bool one_sided(Stage stage, std::uint64_t epoch) const {
    return StagesOf(epoch).one_sided(stage);
  }

  // The layout of each thread's memory.
  std::uint64_t BatchAt(std::uint64_t epoch, std::size_t sequencer) const;
  std::uint64_t ConsumedAt(std::size_t scheduler) const;
  std::uint64_t SleepsAt(std::size_t thread) const;
  std::uint64_t DoneAt(std::size_t sequencer, std::uint32_t coroutine) const;
  std::uint64_t ValueAt(std::uint32_t coroutine, std::size_t item) const;
  std::byte* Own(std::uint64_t at) const { return memory_.data() + at; }
  RegionId RegionOf(EndpointAddress thread) const {
    return static_cast<RegionId>(regions_first_ + thread.endpoint);
  }
  // Whether a write wakes the receiver if it sleeps.
  enum class Waking : bool { kNo, kYes };
  void Write(EndpointAddress to, std::uint64_t at, Bytes bytes, Pending& pending,
             Waking waking = Waking::kYes);
  Outgoing& NewOutgoing();
  void Wake();
  std::vector<std::byte> NewMessage(std::uint16_t what) const;
  std::vector<std::vector<std::byte>> MessagesOf(std::uint64_t epoch, Bytes batch) const;

  Batches& BatchesOf(std::uint64_t epoch);
  void TakeBatch(std::uint64_t epoch, std::size_t sequencer, Bytes batch);
  void TakePart(std::uint64_t epoch, std::size_t sequencer, Bytes part);
  void Broadcast();
  bool MayBroadcast() const;
  bool OthersClosedEpoch() const;
  void TakeBatches();
  bool ScheduleEpoch();
  void ReportConsumed();
  bool NeedsPolling() const;
  void CollectRequests(std::size_t sequencer, Bytes batch);
  void Schedule();
  void Grant(CalvinQueues::Id first);
  void Forward(const Request& request);
  void Scheduled(std::uint32_t coroutine, std::uint64_t number);
  void TakeValue(std::uint32_t coroutine, std::uint32_t item, std::uint64_t number,
                 std::uint64_t offset, const std::byte* version);
  void PollValues();
  void PollEnds();
  void EmptyQueues();
  void EndTransaction(const QueuedTransaction& queued);

  Engine& engine_;
  Worker& worker_;
  const EndpointAddress self_;
  const std::uint32_t threads_;  // of each node
  const std::size_t sequencers_;
  const std::size_t schedulers_;
  const std::uint64_t values_at_;  // offset in the memory
  RegionId regions_first_ = 0;
  MutableBytes memory_;
  std::uint32_t reset_round_ = 0;  // the round in which it last began anew; the same on all threads
  bool death_seen_ = false;        // a node has died since

  // Sequencer.
  std::uint64_t next_epoch_ = 0;                // to be broadcast
  std::vector<std::byte> unsent_transactions_;  // transactions for the next batches
  std::vector<Running> running_;                // by coroutine
  std::vector<std::uint64_t> numbers_;          // by coroutine: of its last transaction
  std::size_t missing_ = 0;                     // values that have not arrived
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrived_values_;  // coroutine and item
  // Schedulers of the accesses of a transaction that ends.
  std::vector<std::size_t> servers_;
  std::vector<Access*> scheduler_accesses_;  // the accesses of one scheduler

  // Scheduler.
  std::uint64_t scheduling_ = 0;      // the next epoch to be scheduled
  std::uint64_t reported_epoch_ = 0;  // how many epochs sequencers know to be consumed
  std::deque<Batches> batches_;       // of that epoch and later ones
  struct Wanted {
    Key key;
    Request request;
  };
  std::vector<Wanted> wanted_;  // of the epoch that is being scheduled
  CalvinQueues queues_;
  std::vector<QueuedTransaction> queued_transactions_;

  std::list<Outgoing> outgoing_;  // the oldest first
  // By thread number: the threads that know that this one sleeps. to_wake_: sleeping threads to
  // wake.
  std::vector<bool> knows_sleeping_;
  Pending sleeping_;  // counts nothing, as nobody awaits these writes
  std::vector<std::size_t> to_wake_;
};

}  // namespace slimgraph::txn
