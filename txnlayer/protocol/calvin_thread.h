// A thread's part in CALVIN: sequencer of its own transactions and scheduler of its tuples.
#pragma once

#include <deque>
#include <list>
#include <vector>

#include "txnlayer/engine.h"
#include "txnlayer/protocol/calvin_queues.h"
#include "txnlayer/protocol/companion.h"

namespace slimgraph::txn {

class CalvinThread : public Companion {
 public:
  static constexpr std::size_t kMostAccesses = 64;  // of a transaction

  // Collective.
  static Result<std::unique_ptr<CalvinThread>> Make(Engine& engine, Worker& worker);

  // --- for the thread's coroutines, each of which has one transaction at a time.
  void Submit(std::uint32_t coroutine, std::span<Access* const> accesses);
  // A transaction of which some values are still to come.
  struct Running {
    std::uint64_t number = 0;
    std::vector<Access*> accesses;  // none: it has ended, or is abandoned
    std::uint64_t missing = 0;      // which of them are still to come, a bit for each
    std::uint64_t submitted = 0;    // in ticks
    std::uint64_t epoch = 0;        // in which it was broadcast
    Pending scheduled;              // until all batches of that are here
    Pending values;                 // until all of them are there
  };
  Running& RunningIn(std::uint32_t coroutine) { return running_[coroutine]; }
  // The forms in which an epoch's batches, and the values and ends of its transactions, go. Where
  // forms are mixed, all two-sided and all one-sided epochs take turns.
  StageCode StagesOf(std::uint64_t epoch) const;
  // Of the coroutine's transaction: gives the tuples back, with what was written if it commits.
  // What goes out one-sided counts in `pending`.
  void Finish(std::uint32_t coroutine, std::span<Access* const> accesses, bool commit,
              Pending& pending);

  void Serve(const Message& message) override;
  std::chrono::nanoseconds Work() override;
  void Sleeps() override;
  // Of what has ended there may have been word that nobody has looked at.
  void LetGo() override { LookForEnds(); }
  void Lose() override;
  void BeginAnew(std::uint32_t round) override;

 private:
  using Place = CalvinQueues::Place;
  using Request = CalvinQueues::Request;
  // A transaction that holds or waits for tuples here, and the last of its requests.
  struct Held {
    std::size_t sequencer;
    std::uint32_t coroutine;
    std::uint64_t number;
    bool ends_by_word;  // of its sequencer; the word of a later one may overtake a message
    CalvinQueues::Id requests;
  };
  // Of an epoch, by sequencer.
  struct Batches {
    std::vector<std::vector<std::byte>> of;
    std::vector<bool> there;
    std::size_t count = 0;
  };
  // What goes out one-sided and must stay where it is until it has.
  struct Outgoing {
    Pending pending;
    std::vector<std::byte> bytes;
    std::uint64_t words[2] = {};
  };

  static constexpr std::size_t kNobody = ~std::size_t{0};
  // So many that what is left of those before them counts for little.
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
  bool Lives(std::size_t number) const { return engine_.view().alive(Thread(number).node); }
  void Abandon(Running& running);
  // What may be one-sided in some epoch.
  bool one_sided(Stage stage) const {
    return engine_.options().mix_stages || engine_.options().stages.one_sided(stage);
  }
  bool one_sided(Stage stage, std::uint64_t epoch) const {
    return StagesOf(epoch).one_sided(stage);
  }

  // Where things lie in the memory of each thread.
  std::uint64_t BatchAt(std::uint64_t epoch, std::size_t sequencer) const;
  std::uint64_t ConsumedAt(std::size_t scheduler) const;
  std::uint64_t SleepsAt(std::size_t thread) const;
  std::uint64_t DoneAt(std::size_t sequencer, std::uint32_t coroutine) const;
  std::uint64_t ValueAt(std::uint32_t coroutine, std::size_t item) const;
  std::byte* Own(std::uint64_t at) const { return memory_.data() + at; }
  RegionId RegionOf(EndpointAddress thread) const {
    return static_cast<RegionId>(regions_first_ + thread.endpoint);
  }
  // Whether the thread is to look at once.
  enum class Waking : bool { kNo, kYes };
  void Write(EndpointAddress to, std::uint64_t at, Bytes bytes, Pending& pending,
             Waking waking = Waking::kYes);
  Outgoing& NewOutgoing();
  void Wake();
  std::vector<std::byte> NewMessage(std::uint16_t what) const;

  Batches& BatchesOf(std::uint64_t epoch);
  void TakeBatch(std::uint64_t epoch, std::size_t sequencer, Bytes batch);
  void Broadcast();
  bool MayBroadcast() const;
  bool Heard() const;
  void TakeBatches();
  bool ScheduleEpoch();
  void TellConsumed();
  bool LooksForWords() const;
  void Gather(std::size_t sequencer, Bytes batch);
  void Schedule();
  void Grant(CalvinQueues::Id first);
  void Forward(const Request& request);
  void Scheduled(std::uint32_t coroutine, std::uint64_t number);
  void Arrived(std::uint32_t coroutine, std::uint32_t item, std::uint64_t number,
               std::uint64_t offset, const std::byte* version);
  void LookForValues();
  void LookForEnds();
  void EmptyQueues();
  void End(const Held& held);

  Engine& engine_;
  Worker& worker_;
  const EndpointAddress self_;
  const std::uint32_t threads_;  // of each node
  const std::size_t sequencers_;
  const std::size_t schedulers_;
  const std::uint64_t values_at_;  // in the memory
  RegionId regions_first_ = 0;
  MutableBytes memory_;
  std::uint32_t beginning_ = 0;  // the round in which all has begun; the same on all threads
  bool loses_ = false;           // a node has died since

  // Sequencer.
  std::uint64_t next_epoch_ = 0;                               // to be broadcast
  std::vector<std::byte> waiting_;                             // transactions for the next batches
  std::vector<Running> running_;                               // by coroutine
  std::vector<std::uint64_t> numbers_;                         // the same: of the last transaction
  std::size_t missing_ = 0;                                    // values that are still to come
  std::vector<std::pair<std::uint32_t, std::uint32_t>> come_;  // values: coroutine and item
  std::size_t servers_[kMostAccesses] = {};                    // of a transaction that ends
  std::vector<Access*> theirs_;                                // those of one of them

  // Scheduler.
  std::uint64_t scheduling_ = 0;  // the epoch that is next
  std::uint64_t told_ = 0;        // of it, what sequencers know
  std::deque<Batches> batches_;   // of that epoch and the next
  struct Wanted {
    Key key;
    Request request;
  };
  std::vector<Wanted> wanted_;  // of the epoch that is being scheduled
  CalvinQueues queues_;
  std::vector<Held> held_;

  std::list<Outgoing> outgoing_;  // the oldest first
  // By number: threads that know that this one sleeps, and those that sleep and are to be woken.
  std::vector<bool> knows_;
  Pending sleeping_;  // counts nothing: the word of it is not waited for
  std::vector<std::size_t> to_wake_;
};

}  // namespace slimgraph::txn
