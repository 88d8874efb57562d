// A thread's part in CALVIN: sequencer of its own transactions and scheduler of its tuples.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "txnlayer/engine.h"
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
    std::vector<bool> arrived;
    std::uint64_t submitted = 0;  // in ticks
    Pending sent;                 // until it is broadcast
    Pending values;               // until all of them are there
  };
  Running& RunningIn(std::uint32_t coroutine) { return running_[coroutine]; }
  // Of the coroutine's transaction: gives the tuples back, with what was written if it commits.
  // What goes out one-sided counts in `pending`.
  void Finish(std::uint32_t coroutine, std::span<Access* const> accesses, bool commit,
              Pending& pending);

  void Serve(const Message& message) override;
  std::chrono::nanoseconds Work() override;
  // Of what has ended there may have been word that nobody has looked at.
  void LetGo() override { LookForEnds(); }
  void Lose() override;
  void BeginAnew(std::uint32_t round) override;

 private:
  // A lock request in a tuple's queue.
  struct Request {
    EndpointAddress coordinator;
    std::uint32_t coroutine;
    std::uint32_t item;  // the place among the transaction's accesses
    std::uint64_t number;
    bool write;
    bool granted = false;
  };
  // A tuple of this node.
  struct Place {
    Table* table;
    Rank rank;
    std::uint64_t offset;
    std::byte* tuple() const { return table->memory(rank) + offset; }
    auto operator<=>(const Place&) const = default;
  };
  using Queue = std::deque<Request>;
  // What goes out one-sided and must stay where it is until it has.
  struct Outgoing {
    Pending pending;
    std::vector<std::byte> bytes;
    std::uint64_t words[2] = {};
  };

  CalvinThread(Engine& engine, Worker& worker);
  std::size_t sequencers() const;
  std::size_t schedulers() const;
  std::size_t NumberOf(EndpointAddress thread) const;
  EndpointAddress Thread(std::size_t number) const;
  bool Lives(std::size_t number) const { return engine_.view().alive(Thread(number).node); }
  void Abandon(Running& running);
  bool one_sided(Stage stage) const { return engine_.options().stages.one_sided(stage); }

  // Where things lie in the memory of each thread.
  std::uint64_t BatchAt(std::uint64_t epoch, std::size_t sequencer) const;
  std::uint64_t ConsumedAt(std::size_t scheduler) const;
  std::uint64_t DoneAt(std::size_t sequencer, std::uint32_t coroutine) const;
  std::uint64_t ValueAt(std::uint32_t coroutine, std::size_t item) const;
  std::byte* Own(std::uint64_t at) const { return memory_.data() + at; }
  RegionId RegionOf(EndpointAddress thread) const {
    return static_cast<RegionId>(regions_first_ + thread.endpoint);
  }
  void Write(EndpointAddress to, std::uint64_t at, Bytes bytes, Pending& pending);
  Outgoing& NewOutgoing();
  std::vector<std::byte> NewMessage(std::uint16_t what) const;

  void Broadcast();
  bool MayBroadcast() const;
  bool Heard() const;
  void TakeBatches();
  bool ScheduleEpoch();
  void TellConsumed();
  void Schedule(std::size_t sequencer, Bytes batch);
  void Enqueue(const Request& request, Table& table, Key key);
  void Grant(const Place& place, Queue& queue);
  void Forward(const Request& request, const Place& place);
  void Arrived(std::uint32_t coroutine, std::uint32_t item, std::uint64_t number,
               std::uint64_t offset, const std::byte* version);
  void LookForValues();
  void LookForEnds();
  void EmptyQueues();
  void End(EndpointAddress coordinator, std::uint32_t coroutine, std::uint64_t number);

  Engine& engine_;
  Worker& worker_;
  const EndpointAddress self_;
  RegionId regions_first_ = 0;
  MutableBytes memory_;
  std::uint32_t beginning_ = 0;  // the round in which all has begun; the same on all threads
  bool loses_ = false;           // a node has died since

  // Sequencer.
  std::uint64_t next_epoch_ = 0;                        // to be broadcast
  std::deque<std::vector<std::byte>> waiting_;          // transactions for the next batches
  std::unordered_map<std::uint32_t, Running> running_;  // by coroutine
  std::unordered_map<std::uint32_t, std::uint64_t> numbers_;
  std::size_t missing_ = 0;  // values that are still to come

  // Scheduler.
  std::uint64_t scheduling_ = 0;  // the epoch that is next
  std::uint64_t told_ = 0;        // of it, what sequencers know
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<std::byte>> batches_;
  std::map<Place, Queue> queues_;
  // The tuples that a transaction holds or waits for here, by (sequencer, coroutine).
  struct Held {
    std::uint64_t number;
    std::vector<Place> tuples;
  };
  std::map<std::pair<std::size_t, std::uint32_t>, std::deque<Held>> held_;

  std::list<Outgoing> outgoing_;
};

}  // namespace slimgraph::txn
