// The part of a thread that holds tuples: queues in the order of the batches.
#include <algorithm>

#include "slimgraph/base/words.h"
#include "txnlayer/protocol/calvin_thread.h"
#include "txnlayer/protocol/calvin_wire.h"

namespace slimgraph::txn {

using namespace calvin;

namespace {

// Of a tuple's writers: one comes, or goes.
void CountWriter(std::byte* tuple) {
  const SharedWord word = WordAt(tuple);
  word.store(word.load() + 1);
}

}  // namespace

void CalvinThread::EmptyQueues() {
  queues_.ForEach([](const Request& request) {
    if (request.write && request.granted) CountWriter(request.place.tuple());
  });
  queues_.Clear();
  held_.clear();
}

CalvinThread::Batches& CalvinThread::BatchesOf(std::uint64_t epoch) {
  while (batches_.size() <= epoch - scheduling_) {
    Batches& fresh = batches_.emplace_back();
    fresh.of.resize(sequencers_);
    fresh.there.resize(sequencers_);
  }
  return batches_[epoch - scheduling_];
}

void CalvinThread::TakeBatch(std::uint64_t epoch, std::size_t sequencer, Bytes batch) {
  Batches& batches = BatchesOf(epoch);
  batches.of[sequencer].assign(batch.begin(), batch.end());
  batches.there[sequencer] = true;
  ++batches.count;
}

// Those that were written into this thread's memory, in whatever run.
void CalvinThread::TakeBatches() {
  const std::size_t me = engine_.cluster().computes() ? NumberOf(self_) : sequencers_;
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (s == me || !Lives(s)) continue;
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
    if (!batches_.front().there[s] && Lives(s)) return false;
  }
  Batches batches = std::move(batches_.front());
  batches_.pop_front();
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (Lives(s)) Gather(s, batches.of[s]);
  }
  Schedule();
  ++scheduling_;
  return true;
}

// Also of epochs that came as messages, when stages have become one-sided since: sequencers wait
// for the count before they use a buffer again.
void CalvinThread::TellConsumed() {
  if (!one_sided(Stage::kLock) || scheduling_ - told_ < kTellEvery) return;
  told_ = scheduling_;
  worker_.endpoint().SetStage(TrafficStage(Stage::kLock));
  Outgoing& outgoing = NewOutgoing();
  outgoing.words[0] = scheduling_;
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (!Lives(s)) continue;
    Write(Thread(s), ConsumedAt(NumberOf(self_)), std::as_bytes(std::span(outgoing.words).first(1)),
          outgoing.pending, Waking::kNo);
  }
}

// What the batch wants of this thread's tuples.
void CalvinThread::Gather(std::size_t sequencer, Bytes batch) {
  const bool mine = Thread(sequencer) == self_;
  const bool one_sided_values = one_sided(Stage::kRead, scheduling_);
  while (!batch.empty()) {
    const auto item = Take<BatchItem>(batch);
    if (mine) Scheduled(item.coroutine, item.number);
    for (std::uint32_t i = 0; i < item.accesses; ++i) {
      const auto access = Take<BatchAccess>(batch);
      Table& table = engine_.table(access.table);
      if (!(engine_.ServerOf(table, access.key) == self_)) continue;
      const Rank rank = engine_.view().RankAt(self_.node, table.Home(access.key));
      table.PrefetchBucket(access.key, rank);
      wanted_.push_back({access.key,
                         {.place = {&table, rank, 0},
                          .sequencer = sequencer,
                          .coroutine = item.coroutine,
                          .number = item.number,
                          .item = i,
                          .write = access.write,
                          .one_sided = one_sided_values}});
    }
  }
}

// In steps, each of which asks the processor for what the next one looks at.
void CalvinThread::Schedule() {
  for (Wanted& wanted : wanted_) {
    Place& place = wanted.request.place;
    place.offset = place.table->FindOrPlace(wanted.key, place.rank);
    if (place.offset != 0) place.table->PrefetchTuple(place.offset, place.rank);
  }
  for (Wanted& wanted : wanted_) {
    Request& request = wanted.request;
    if (request.place.offset == 0) {
      Forward(request);
      continue;
    }
    const bool another = held_.empty() || held_.back().sequencer != request.sequencer ||
                         held_.back().coroutine != request.coroutine ||
                         held_.back().number != request.number;
    if (another) {
      const bool mine = Thread(request.sequencer) == self_;
      held_.push_back({.sequencer = request.sequencer,
                       .coroutine = request.coroutine,
                       .number = request.number,
                       .ends_by_word = mine || one_sided(Stage::kCommit, scheduling_),
                       .requests = CalvinQueues::kNone});
    }
    request.sibling = held_.back().requests;
    held_.back().requests = queues_.Add(request);
    Grant(queues_.FirstOf(request.place));
  }
  wanted_.clear();
}

// To the first, and where that only reads, to all that follow up to the first that writes.
void CalvinThread::Grant(CalvinQueues::Id first) {
  for (CalvinQueues::Id id = first; id != CalvinQueues::kNone; id = queues_.Next(id)) {
    Request& request = queues_.at(id);
    if (request.write && id != first) return;
    if (!request.granted) {
      request.granted = true;
      if (request.write) CountWriter(request.place.tuple());
      Forward(request);
    }
    if (request.write) return;
  }
}

// Without a place, the table is full.
void CalvinThread::Forward(const Request& request) {
  const Place& place = request.place;
  const std::uint64_t offset = place.offset;
  const std::byte* const version =
      offset == 0 ? nullptr : place.tuple() + place.table->version_at(0);
  const std::uint64_t bytes = offset == 0 ? 0 : place.table->version_bytes();
  const EndpointAddress coordinator = Thread(request.sequencer);
  if (coordinator == self_) {
    return Arrived(request.coroutine, request.item, request.number, offset, version);
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

void CalvinThread::LookForEnds() {
  for (std::size_t i = 0; i < held_.size();) {
    const Held held = held_[i];
    const SharedWord done = WordAt(Own(DoneAt(held.sequencer, held.coroutine)));
    if (!held.ends_by_word || done.load() < held.number) {
      ++i;
      continue;
    }
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    End(held);
  }
}

// What it held goes to those that wait.
void CalvinThread::End(const Held& held) {
  for (CalvinQueues::Id id = held.requests; id != CalvinQueues::kNone;) {
    const Request& request = queues_.at(id);
    if (request.write && request.granted) CountWriter(request.place.tuple());
    const CalvinQueues::Id next = request.sibling;
    Grant(queues_.Remove(id));
    id = next;
  }
}

}  // namespace slimgraph::txn
