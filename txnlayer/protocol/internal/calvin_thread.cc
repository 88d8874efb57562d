#include "txnlayer/protocol/internal/calvin_thread.h"

#include <algorithm>

#include "slimgraph/base/words.h"
#include "txnlayer/internal/store/hash.h"
#include "txnlayer/protocol/internal/calvin_wire.h"

namespace slimgraph::txn {

using namespace calvin;

CalvinThread::CalvinThread(Engine& engine, Worker& worker)
    : engine_(engine),
      worker_(worker),
      self_(worker.endpoint().address()),
      threads_(engine.cluster().threads()),
      sequencers_(std::size_t{engine.cluster().topology().compute()} * threads_),
      schedulers_(std::size_t{engine.cluster().topology().nodes()} * threads_),
      values_at_(RoundUpToCacheLine(DoneAt(sequencers_, 0))),
      running_(kMaxCoroutines),
      numbers_(kMaxCoroutines),
      knows_sleeping_(schedulers_) {}

Result<std::unique_ptr<CalvinThread>> CalvinThread::Make(Engine& engine, Worker& worker) {
  std::unique_ptr<CalvinThread> thread(new CalvinThread(engine, worker));
  const std::uint64_t bytes = thread->ValueAt(engine.options().most_coroutines, 0);
  SLIM_ASSIGN(const SharedRegion region, engine.cluster().fabric().Share(bytes));
  thread->memory_ = region.memory;
  thread->regions_first_ = static_cast<RegionId>(region.id - worker.index());
  return thread;
}

std::uint64_t CalvinThread::BatchAt(std::uint64_t epoch, std::size_t sequencer) const {
  return (epoch % kEpochSlots * sequencers_ + sequencer) * kSlotBytes;
}
std::uint64_t CalvinThread::ConsumedAt(std::size_t scheduler) const {
  return kEpochSlots * sequencers_ * kSlotBytes + scheduler * kWordBytes;
}
std::uint64_t CalvinThread::SleepsAt(std::size_t thread) const {
  return ConsumedAt(schedulers_) + thread * kWordBytes;
}
std::uint64_t CalvinThread::DoneAt(std::size_t sequencer, std::uint32_t coroutine) const {
  return SleepsAt(schedulers_) + (sequencer * kMaxCoroutines + coroutine) * kWordBytes;
}
std::uint64_t CalvinThread::ValueAt(std::uint32_t coroutine, std::size_t item) const {
  return values_at_ + (coroutine * kValueSlots + item) * kValueBytes;
}

StageCode CalvinThread::StagesOf(std::uint64_t epoch) const {
  StageCode stages = engine_.options().stages;
  if (!engine_.options().mix_stages) return stages;
  const bool one_sided = epoch / kEpochsOfAForm % 2 != 0;
  for (std::size_t i = 0; i < kNumStages; ++i) stages.Set(static_cast<Stage>(i), one_sided);
  return stages;
}

// Messages wake a thread, but words written into its memory do not. Whether such words may come.
bool CalvinThread::NeedsPolling() const {
  if (one_sided(Stage::kLock, scheduling_) || one_sided(Stage::kLock, next_epoch_)) return true;
  const auto by_word = [this](const Running& running) {
    return running.missing.any() && one_sided(Stage::kRead, running.epoch);
  };
  if (one_sided(Stage::kRead) && missing_ > 0) {
    const auto end = running_.begin() + engine_.options().coroutines;
    if (std::any_of(running_.begin(), end, by_word)) return true;
  }
  if (!one_sided(Stage::kCommit)) return false;
  const std::size_t me = NumberOf(self_);
  return std::any_of(queued_transactions_.begin(), queued_transactions_.end(),
                     [me](const QueuedTransaction& queued) {
                       return queued.ends_by_word && queued.sequencer != me;
                     });
}

void CalvinThread::Write(EndpointAddress to, std::uint64_t at, Bytes bytes, Pending& pending,
                         Waking waking) {
  worker_.endpoint().Write(to.node, RegionOf(to), at, bytes, worker_.Tag(pending));
  if (waking == Waking::kNo) return;
  const std::size_t number = NumberOf(to);
  const SharedWord sleeps = WordAt(Own(SleepsAt(number)));
  if (sleeps.load(std::memory_order_relaxed) == 0) return;
  sleeps.store(0);
  to_wake_.push_back(number);
}

// Reuses the oldest one if it has gone out.
CalvinThread::Outgoing& CalvinThread::NewOutgoing() {
  if (outgoing_.empty() || outgoing_.front().pending.left > 0) return outgoing_.emplace_back();
  outgoing_.splice(outgoing_.end(), outgoing_, outgoing_.begin());
  outgoing_.back().bytes.clear();
  return outgoing_.back();
}

std::vector<std::byte> CalvinThread::NewMessage(std::uint16_t what) const {
  const MessageHeader header{{.what = what}, reset_round_, 0};
  const Bytes bytes = std::as_bytes(std::span(&header, 1));
  return {bytes.begin(), bytes.end()};
}

void CalvinThread::Serve(const Message& message) {
  Bytes rest = message.body;
  const auto [header, reset_round, unused] = Take<MessageHeader>(rest);
  if (reset_round != reset_round_) return;
  if (header.what == kBatch || header.what == kBatchPart) {
    const auto batch = Take<BatchHeader>(rest);
    const std::size_t sequencer = NumberOf(message.from);
    if (header.what == kBatch) {
      TakeBatch(batch.epoch, sequencer, rest);
    } else {
      TakePart(batch.epoch, sequencer, rest);
    }
  } else if (header.what == kWake) {
    knows_sleeping_[NumberOf(message.from)] = false;
  } else if (header.what == kValue) {
    const auto value = Take<ValueHeader>(rest);
    std::vector<std::byte> aligned(rest.begin(), rest.end());
    TakeValue(value.coroutine, value.item, value.number, value.offset, aligned.data());
  } else {
    const auto end = Take<EndHeader>(rest);
    for (std::uint32_t i = 0; i < end.writes; ++i) {
      const auto write = Take<EndWrite>(rest);
      Table& table = engine_.tables()[write.table];
      const MutableTupleView tuple(table, table.memory(write.rank) + write.offset);
      StoreWords(tuple.version(0), rest.data(), table.version_bytes());
      rest = rest.subspan(table.version_bytes());
    }
    if (header.what != kEnd || death_seen_) return;
    const std::size_t sequencer = NumberOf(message.from);
    const auto found = std::find_if(queued_transactions_.begin(), queued_transactions_.end(),
                                    [&](const QueuedTransaction& queued) {
                                      return queued.sequencer == sequencer &&
                                             queued.coroutine == end.coroutine &&
                                             queued.number == end.number;
                                    });
    SLIM_CHECK(found != queued_transactions_.end(), "the end of an unknown transaction");
    const QueuedTransaction queued = *found;
    queued_transactions_.erase(found);
    EndTransaction(queued);
  }
}

// From here on no tuple is granted any more. Transactions that have all their values still end.
void CalvinThread::OnDeath() {
  death_seen_ = true;
  for (Running& running : running_) Abandon(running);
}

void CalvinThread::Reset(std::uint32_t round) {
  death_seen_ = false;
  reset_round_ = round;
  next_epoch_ = scheduling_ = reported_epoch_ = 0;
  missing_ = 0;
  unsent_transactions_.clear();
  running_.assign(running_.size(), {});
  batches_.clear();
  EmptyQueues();
  outgoing_.clear();
  // The numbers of transactions continue, so that no transaction takes leftover values or ends for
  // its own.
  for (std::uint64_t epoch = 0; epoch < kEpochSlots; ++epoch) {
    for (std::size_t s = 0; s < sequencers_; ++s) WordAt(Own(BatchAt(epoch, s))).store(0);
  }
  for (std::size_t s = 0; s < schedulers_; ++s) {
    WordAt(Own(ConsumedAt(s))).store(0);
    WordAt(Own(SleepsAt(s))).store(0);
  }
  knows_sleeping_.assign(knows_sleeping_.size(), false);
  to_wake_.clear();
}

// Wakes threads into whose memory this thread has written. If the message overtakes the write, the
// receiver finds the word at its next poll.
void CalvinThread::Wake() {
  for (const std::size_t number : to_wake_) {
    const std::vector<std::byte> message = NewMessage(kWake);
    worker_.endpoint().Send(Thread(number), kRequestHandler, message);
  }
  to_wake_.clear();
}

// Announces to the compute nodes' threads that this thread is about to sleep. Memory nodes are left
// out, as they send and get no messages in one-sided stages.
void CalvinThread::BeforeSleep() {
  static constexpr std::uint64_t kSleeps = 1;
  if (death_seen_ || !engine_.cluster().computes()) return;
  for (std::size_t s = 0; s < sequencers_; ++s) {
    const EndpointAddress to = Thread(s);
    if (knows_sleeping_[s] || to == self_ || !Alive(s)) continue;
    knows_sleeping_[s] = true;
    worker_.endpoint().SetStage(TrafficStage(Stage::kLock));
    worker_.endpoint().Write(to.node, RegionOf(to), SleepsAt(NumberOf(self_)),
                             std::as_bytes(std::span(&kSleeps, 1)), Worker::UncountedTag(sleeping_),
                             Signal::kNo);
  }
  worker_.endpoint().Ring();
}

std::chrono::nanoseconds CalvinThread::Work() {
  if (death_seen_) return std::chrono::nanoseconds(0);
  // Ends come first, as they free tuples for other transactions.
  PollEnds();
  if (one_sided(Stage::kRead) && missing_ > 0) PollValues();
  while (MayBroadcast()) Broadcast();
  while (ScheduleEpoch()) {
  }
  ReportConsumed();
  worker_.endpoint().Ring();
  Wake();
  return NeedsPolling() || !unsent_transactions_.empty() ? kPollInterval
                                                         : std::chrono::nanoseconds(0);
}

}  // namespace slimgraph::txn
