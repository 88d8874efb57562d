#include "txnlayer/protocol/calvin_thread.h"

#include "slimgraph/base/words.h"
#include "txnlayer/protocol/calvin_wire.h"

namespace slimgraph::txn {

using namespace calvin;

CalvinThread::CalvinThread(Engine& engine, Worker& worker)
    : engine_(engine), worker_(worker), self_(worker.endpoint().address()) {}

Result<std::unique_ptr<CalvinThread>> CalvinThread::Make(Engine& engine, Worker& worker) {
  std::unique_ptr<CalvinThread> thread(new CalvinThread(engine, worker));
  const std::uint64_t bytes = thread->ValueAt(kMaxCoroutines, 0);
  SLIM_ASSIGN(const SharedRegion region, engine.cluster().fabric().Share(bytes));
  thread->memory_ = region.memory;
  thread->regions_first_ = static_cast<RegionId>(region.id - worker.index());
  return thread;
}

std::size_t CalvinThread::sequencers() const {
  return std::size_t{engine_.cluster().topology().compute()} * engine_.cluster().threads();
}
std::size_t CalvinThread::schedulers() const {
  return std::size_t{engine_.cluster().topology().nodes()} * engine_.cluster().threads();
}
std::size_t CalvinThread::NumberOf(EndpointAddress thread) const {
  return std::size_t{thread.node} * engine_.cluster().threads() + thread.endpoint;
}
EndpointAddress CalvinThread::Thread(std::size_t number) const {
  const std::uint32_t threads = engine_.cluster().threads();
  return {static_cast<NodeId>(number / threads), static_cast<std::uint32_t>(number % threads)};
}

std::uint64_t CalvinThread::BatchAt(std::uint64_t epoch, std::size_t sequencer) const {
  return (epoch % kEpochSlots * sequencers() + sequencer) * kSlotBytes;
}
std::uint64_t CalvinThread::ConsumedAt(std::size_t scheduler) const {
  return kEpochSlots * sequencers() * kSlotBytes + scheduler * kWordBytes;
}
std::uint64_t CalvinThread::DoneAt(std::size_t sequencer, std::uint32_t coroutine) const {
  return ConsumedAt(schedulers()) + (sequencer * kMaxCoroutines + coroutine) * kWordBytes;
}
std::uint64_t CalvinThread::ValueAt(std::uint32_t coroutine, std::size_t item) const {
  return DoneAt(sequencers(), 0) + (coroutine * kMostAccesses + item) * kValueBytes;
}

void CalvinThread::Write(EndpointAddress to, std::uint64_t at, Bytes bytes, Pending& pending) {
  worker_.endpoint().Write(to.node, RegionOf(to), at, bytes, worker_.Tag(pending));
}

CalvinThread::Outgoing& CalvinThread::NewOutgoing() {
  while (!outgoing_.empty() && outgoing_.front().pending.left == 0) outgoing_.pop_front();
  return outgoing_.emplace_back();
}

std::vector<std::byte> CalvinThread::NewMessage(std::uint16_t what) const {
  const MessageHeader header{{.what = what}, beginning_, 0};
  const Bytes bytes = std::as_bytes(std::span(&header, 1));
  return {bytes.begin(), bytes.end()};
}

void CalvinThread::Serve(const Message& message) {
  Bytes rest = message.body;
  const auto [header, beginning, unused] = Take<MessageHeader>(rest);
  if (beginning != beginning_) return;
  if (header.what == kBatch) {
    const auto batch = Take<BatchHeader>(rest);
    batches_[{batch.epoch, NumberOf(message.from)}].assign(rest.begin(), rest.end());
  } else if (header.what == kValue) {
    const auto value = Take<ValueHeader>(rest);
    std::vector<std::byte> aligned(rest.begin(), rest.end());
    Arrived(value.coroutine, value.item, value.number, value.offset, aligned.data());
  } else {
    const auto end = Take<EndHeader>(rest);
    for (std::uint32_t i = 0; i < end.writes; ++i) {
      const auto write = Take<EndWrite>(rest);
      Table& table = engine_.table(write.table);
      StoreWords(table.memory(write.rank) + write.offset + table.version_at(0), rest.data(),
                 table.version_bytes());
      rest = rest.subspan(table.version_bytes());
    }
    if (header.what == kEnd && !loses_) End(message.from, end.coroutine, end.number);
  }
}

// Nobody is admitted to a tuple any more. Those that have all their values end.
void CalvinThread::Lose() {
  loses_ = true;
  for (auto& [coroutine, running] : running_) Abandon(running);
}

void CalvinThread::BeginAnew(std::uint32_t round) {
  loses_ = false;
  beginning_ = round;
  next_epoch_ = scheduling_ = told_ = 0;
  missing_ = 0;
  waiting_.clear();
  running_.clear();
  batches_.clear();
  EmptyQueues();
  outgoing_.clear();
  // Transactions' numbers go on, so that what is left of values and ends is of none.
  for (std::uint64_t epoch = 0; epoch < kEpochSlots; ++epoch) {
    for (std::size_t s = 0; s < sequencers(); ++s) WordAt(Own(BatchAt(epoch, s))).store(0);
  }
  for (std::size_t s = 0; s < schedulers(); ++s) WordAt(Own(ConsumedAt(s))).store(0);
}

std::chrono::nanoseconds CalvinThread::Work() {
  if (loses_) return std::chrono::nanoseconds(0);
  // Ends first: they make room for others.
  LookForEnds();
  if (one_sided(Stage::kRead) && missing_ > 0) LookForValues();
  while (MayBroadcast()) Broadcast();
  while (ScheduleEpoch()) {
  }
  TellConsumed();
  worker_.endpoint().Ring();
  // Messages wake the thread; what is written into its memory does not.
  const bool looks = one_sided(Stage::kLock) || (one_sided(Stage::kRead) && missing_ > 0) ||
                     (one_sided(Stage::kCommit) && !queues_.empty());
  return looks || !waiting_.empty() ? kLookAgain : std::chrono::nanoseconds(0);
}

}  // namespace slimgraph::txn
