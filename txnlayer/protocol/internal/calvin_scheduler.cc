// CalvinThread as a scheduler: queues the lock requests for its tuples, in the order of the
// batches.
#include <algorithm>

#include "slimgraph/base/words.h"
#include "txnlayer/protocol/internal/calvin_thread.h"
#include "txnlayer/protocol/internal/calvin_wire.h"

namespace slimgraph::txn {

using namespace calvin;

namespace {

// Counts that a writer of the tuple begins or ends, so that the word is odd in between.
void CountWriter(std::byte* tuple) {
  const SharedWord word = WordAt(tuple);
  word.store(word.load() + 1);
}

}  // namespace

void CalvinThread::EmptyQueues() {
  queues_.ForEach([](const Request& request) {
    if (request.write && request.granted) CountWriter(request.location.tuple().bytes());
  });
  queues_.Clear();
  queued_transactions_.clear();
}

CalvinThread::Batches& CalvinThread::BatchesOf(std::uint64_t epoch) {
  while (batches_.size() <= epoch - scheduling_) {
    Batches& fresh = batches_.emplace_back();
    fresh.of.resize(sequencers_);
    fresh.there.resize(sequencers_);
  }
  return batches_[epoch - scheduling_];
}

void CalvinThread::TakePart(std::uint64_t epoch, std::size_t sequencer, Bytes part) {
  std::vector<std::byte>& batch = BatchesOf(epoch).of[sequencer];
  batch.insert(batch.end(), part.begin(), part.end());
}

// The whole batch, or what is left after its other parts.
void CalvinThread::TakeBatch(std::uint64_t epoch, std::size_t sequencer, Bytes batch) {
  TakePart(epoch, sequencer, batch);
  Batches& batches = BatchesOf(epoch);
  batches.there[sequencer] = true;
  ++batches.count;
}

// Takes the batches of the next epoch that were written into this thread's memory.
void CalvinThread::TakeBatches() {
  const std::size_t me = engine_.cluster().computes() ? NumberOf(self_) : sequencers_;
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (s == me || !Alive(s)) continue;
    std::byte* const slot = Own(BatchAt(scheduling_, s));
    if (WordAt(slot).load() != scheduling_ + 1) continue;
    Batches& batches = BatchesOf(scheduling_);
    if (batches.there[s]) continue;
    const std::uint64_t bytes = WordAt(slot + kWordBytes).load();
    batches.of[s].resize(bytes);
    LoadWords(batches.of[s].data(), slot + 2 * kWordBytes, bytes);
    batches.there[s] = true;
    ++batches.count;
  }
}

bool CalvinThread::ScheduleEpoch() {
  TakeBatches();
  if (batches_.empty()) return false;
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (!batches_.front().there[s] && Alive(s)) return false;
  }
  Batches batches = std::move(batches_.front());
  batches_.pop_front();
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (Alive(s)) CollectRequests(s, batches.of[s]);
  }
  Schedule();
  ++scheduling_;
  return true;
}

// Counts epochs that came as messages too. If Lock is one-sided in the next run, sequencers check
// the count before they reuse a buffer.
void CalvinThread::ReportConsumed() {
  if (!one_sided(Stage::kLock) || scheduling_ - reported_epoch_ < kReportEvery) return;
  reported_epoch_ = scheduling_;
  worker_.endpoint().SetStage(TrafficStage(Stage::kLock));
  Outgoing& outgoing = NewOutgoing();
  outgoing.words[0] = scheduling_;
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (!Alive(s)) continue;
    Write(Thread(s), ConsumedAt(NumberOf(self_)), std::as_bytes(std::span(outgoing.words).first(1)),
          outgoing.pending, Waking::kNo);
  }
}

// Collects the batch's requests for this thread's tuples.
void CalvinThread::CollectRequests(std::size_t sequencer, Bytes batch) {
  const bool mine = Thread(sequencer) == self_;
  const bool one_sided_values = one_sided(Stage::kRead, scheduling_);
  while (!batch.empty()) {
    const auto item = Take<BatchItem>(batch);
    if (mine) Scheduled(item.coroutine, item.number);
    for (std::uint32_t i = 0; i < item.accesses; ++i) {
      const auto access = Take<BatchAccess>(batch);
      Table& table = engine_.tables()[access.table];
      if (!(engine_.ServerOf(table, access.key) == self_)) continue;
      const Rank rank = engine_.tables().view().RankAt(self_.node, table.Home(access.key));
      table.PrefetchBucket(access.key, rank);
      wanted_.push_back({access.key,
                         {.location = {&table, rank, 0},
                          .sequencer = sequencer,
                          .coroutine = item.coroutine,
                          .number = item.number,
                          .item = i,
                          .write = access.write,
                          .one_sided = one_sided_values && i < kValueSlots}});
    }
  }
}

// In two passes: the first prefetches the tuples that the second accesses.
void CalvinThread::Schedule() {
  for (Wanted& wanted : wanted_) {
    TupleLocation& location = wanted.request.location;
    location.offset = location.table->FindOrInsert(
        wanted.key, location.rank,
        wanted.request.write ? Table::TupleKind::kRecord : Table::TupleKind::kPlaceholder);
    if (location.offset != 0) location.table->PrefetchTuple(location.offset, location.rank);
  }
  for (Wanted& wanted : wanted_) {
    Request& request = wanted.request;
    if (request.location.offset == 0) {
      Forward(request);
      continue;
    }
    const bool another = queued_transactions_.empty() ||
                         queued_transactions_.back().sequencer != request.sequencer ||
                         queued_transactions_.back().coroutine != request.coroutine ||
                         queued_transactions_.back().number != request.number;
    if (another) {
      const bool mine = Thread(request.sequencer) == self_;
      queued_transactions_.push_back(
          {.sequencer = request.sequencer,
           .coroutine = request.coroutine,
           .number = request.number,
           .ends_by_word = mine || one_sided(Stage::kCommit, scheduling_),
           .requests = CalvinQueues::kNone});
    }
    request.sibling = queued_transactions_.back().requests;
    queued_transactions_.back().requests = queues_.Add(request);
    Grant(queues_.FirstOf(request.location));
  }
  wanted_.clear();
}

// Grants the first request, and if it only reads, all following requests up to the first write.
void CalvinThread::Grant(CalvinQueues::Id first) {
  for (CalvinQueues::Id id = first; id != CalvinQueues::kNone; id = queues_.Behind(id)) {
    Request& request = queues_.at(id);
    if (request.write && id != first) return;
    if (!request.granted) {
      request.granted = true;
      if (request.write) CountWriter(request.location.tuple().bytes());
      Forward(request);
    }
    if (request.write) return;
  }
}

// Forwards the tuple's value to its transaction; offset 0 tells that the table is full.
void CalvinThread::Forward(const Request& request) {
  const TupleLocation& location = request.location;
  const std::uint64_t offset = location.offset;
  const std::byte* const version = offset == 0 ? nullptr : location.tuple().version(0);
  const std::uint64_t bytes = offset == 0 ? 0 : location.table->version_bytes();
  const EndpointAddress coordinator = Thread(request.sequencer);
  if (coordinator == self_) {
    return TakeValue(request.coroutine, request.item, request.number, offset, version);
  }
  worker_.endpoint().SetStage(TrafficStage(Stage::kRead));
  if (request.one_sided) {
    Outgoing& outgoing = NewOutgoing();
    Append(outgoing.bytes, offset);
    outgoing.bytes.resize(kWordBytes + bytes);
    LoadWords(outgoing.bytes.data() + kWordBytes, version, bytes);
    outgoing.words[0] = request.number;
    const std::uint64_t at = ValueAt(request.coroutine, request.item);
    Write(coordinator, at + kWordBytes, outgoing.bytes, outgoing.pending);
    Write(coordinator, at, std::as_bytes(std::span(outgoing.words).first(1)), outgoing.pending);
    return;
  }
  std::vector<std::byte> message = NewMessage(kValue);
  Append(message, ValueHeader{request.coroutine, request.item, request.number, offset});
  message.resize(message.size() + bytes);
  LoadWords(message.data() + message.size() - bytes, version, bytes);
  worker_.endpoint().Send(coordinator, kRequestHandler, message);
}

void CalvinThread::PollEnds() {
  for (std::size_t i = 0; i < queued_transactions_.size();) {
    const QueuedTransaction queued = queued_transactions_[i];
    const SharedWord done = WordAt(Own(DoneAt(queued.sequencer, queued.coroutine)));
    if (!queued.ends_by_word || done.load() < queued.number) {
      ++i;
      continue;
    }
    queued_transactions_.erase(queued_transactions_.begin() + static_cast<std::ptrdiff_t>(i));
    EndTransaction(queued);
  }
}

// Removes all requests of a transaction that has ended, and grants the requests behind them.
void CalvinThread::EndTransaction(const QueuedTransaction& queued) {
  for (CalvinQueues::Id id = queued.requests; id != CalvinQueues::kNone;) {
    const Request& request = queues_.at(id);
    if (request.write && request.granted) CountWriter(request.location.tuple().bytes());
    const CalvinQueues::Id next = request.sibling;
    Grant(queues_.Remove(id));
    id = next;
  }
}

}  // namespace slimgraph::txn
