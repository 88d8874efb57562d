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
  for (const auto& [place, queue] : queues_) {
    for (const Request& request : queue) {
      if (request.write && request.granted) CountWriter(place.tuple());
    }
  }
  queues_.clear();
  held_.clear();
}

void CalvinThread::TakeBatches() {
  if (!one_sided(Stage::kLock)) return;
  const std::size_t me = engine_.cluster().computes() ? NumberOf(self_) : sequencers();
  for (std::size_t s = 0; s < sequencers(); ++s) {
    if (s == me || !Lives(s) || batches_.contains({scheduling_, s})) continue;
    std::byte* const slot = Own(BatchAt(scheduling_, s));
    if (WordAt(slot).load() != scheduling_ + 1) continue;
    const std::uint64_t bytes = WordAt(slot + kWordBytes).load();
    std::vector<std::byte>& batch = batches_[{scheduling_, s}];
    batch.resize(bytes);
    LoadWords(batch.data(), slot + 2 * kWordBytes, bytes);
  }
}

bool CalvinThread::ScheduleEpoch() {
  TakeBatches();
  for (std::size_t s = 0; s < sequencers(); ++s) {
    if (Lives(s) && !batches_.contains({scheduling_, s})) return false;
  }
  for (std::size_t s = 0; s < sequencers(); ++s) {
    if (!Lives(s)) continue;
    const auto batch = batches_.extract({scheduling_, s});
    Schedule(s, batch.mapped());
  }
  ++scheduling_;
  return true;
}

// Also of epochs that came as messages, when stages have become one-sided since: sequencers wait
// for the count before they use a buffer again.
void CalvinThread::TellConsumed() {
  if (!one_sided(Stage::kLock) || told_ == scheduling_) return;
  told_ = scheduling_;
  worker_.endpoint().SetStage(TrafficStage(Stage::kLock));
  Outgoing& outgoing = NewOutgoing();
  outgoing.words[0] = scheduling_;
  for (std::size_t s = 0; s < sequencers(); ++s) {
    if (!Lives(s)) continue;
    Write(Thread(s), ConsumedAt(NumberOf(self_)), std::as_bytes(std::span(outgoing.words).first(1)),
          outgoing.pending);
  }
}

void CalvinThread::Schedule(std::size_t sequencer, Bytes batch) {
  while (!batch.empty()) {
    const auto item = Take<BatchItem>(batch);
    for (std::uint32_t i = 0; i < item.accesses; ++i) {
      const auto access = Take<BatchAccess>(batch);
      Table& table = engine_.table(access.table);
      if (!(engine_.ServerOf(table, access.key) == self_)) continue;
      Enqueue({Thread(sequencer), item.coroutine, i, item.number, access.write}, table, access.key);
    }
  }
}

void CalvinThread::Enqueue(const Request& request, Table& table, Key key) {
  const Rank rank = engine_.view().RankAt(self_.node, table.Home(key));
  const Place place{&table, rank, table.FindOrPlace(key, rank)};
  if (place.offset == 0) return Forward(request, place);
  auto& held = held_[{NumberOf(request.coordinator), request.coroutine}];
  if (held.empty() || held.back().number != request.number) held.push_back({request.number, {}});
  held.back().tuples.push_back(place);
  Queue& queue = queues_[place];
  queue.push_back(request);
  Grant(place, queue);
}

// To the first, and where that only reads, to all that follow up to the first that writes.
void CalvinThread::Grant(const Place& place, Queue& queue) {
  for (std::size_t i = 0; i < queue.size(); ++i) {
    Request& request = queue[i];
    if (request.write && i > 0) return;
    if (!request.granted) {
      request.granted = true;
      if (request.write) CountWriter(place.tuple());
      Forward(request, place);
    }
    if (request.write) return;
  }
}

// Without a place, the table is full.
void CalvinThread::Forward(const Request& request, const Place& place) {
  const std::uint64_t offset = place.offset;
  const std::byte* const version =
      offset == 0 ? nullptr : place.tuple() + place.table->version_at(0);
  const std::uint64_t bytes = offset == 0 ? 0 : place.table->version_bytes();
  if (request.coordinator == self_) {
    return Arrived(request.coroutine, request.item, request.number, offset, version);
  }
  worker_.endpoint().SetStage(TrafficStage(Stage::kRead));
  if (one_sided(Stage::kRead)) {
    Outgoing& outgoing = NewOutgoing();
    Append(outgoing.bytes, offset);
    outgoing.bytes.resize(kWordBytes + bytes);
    LoadWords(outgoing.bytes.data() + kWordBytes, version, bytes);
    outgoing.words[0] = request.number;
    const std::uint64_t at = ValueAt(request.coroutine, request.item);
    Write(request.coordinator, at + kWordBytes, outgoing.bytes, outgoing.pending);
    Write(request.coordinator, at, std::as_bytes(std::span(outgoing.words).first(1)),
          outgoing.pending);
    return;
  }
  std::vector<std::byte> message = NewMessage(kValue);
  Append(message, ValueHeader{request.coroutine, request.item, request.number, offset});
  message.resize(message.size() + bytes);
  LoadWords(message.data() + message.size() - bytes, version, bytes);
  worker_.endpoint().Send(request.coordinator, kRequestHandler, message);
}

void CalvinThread::LookForEnds() {
  for (auto& [who, helds] : held_) {
    while (!helds.empty()) {
      const std::uint64_t done = WordAt(Own(DoneAt(who.first, who.second))).load();
      if (done < helds.front().number) break;
      End(Thread(who.first), who.second, helds.front().number);
    }
  }
}

void CalvinThread::End(EndpointAddress coordinator, std::uint32_t coroutine, std::uint64_t number) {
  auto& helds = held_[{NumberOf(coordinator), coroutine}];
  SLIM_CHECK(!helds.empty() && helds.front().number == number, "an end without a beginning");
  const Held held = std::move(helds.front());
  helds.pop_front();
  for (const Place& place : held.tuples) {
    const auto found = queues_.find(place);
    std::erase_if(found->second, [&](const Request& request) {
      const bool ends = request.coordinator == coordinator && request.coroutine == coroutine &&
                        request.number == number;
      if (ends && request.write && request.granted) CountWriter(place.tuple());
      return ends;
    });
    if (found->second.empty()) {
      queues_.erase(found);
    } else {
      Grant(place, found->second);
    }
  }
}

}  // namespace slimgraph::txn
