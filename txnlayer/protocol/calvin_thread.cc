#include "txnlayer/protocol/calvin_thread.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/words.h"

namespace slimgraph::txn {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint16_t kBatch = kFirstCompanionRequest;
constexpr std::uint16_t kValue = kFirstCompanionRequest + 1;
constexpr std::uint16_t kEnd = kFirstCompanionRequest + 2;

constexpr std::uint64_t kEpochSlots = 4;
constexpr std::uint64_t kBatchBytes = 8 << 10;
constexpr std::uint64_t kSlotBytes = kBatchBytes + 2 * kWordBytes;  // epoch + 1, bytes, batch
// Number of the transaction, where the tuple lies, the version.
constexpr std::uint64_t kValueBytes = 3 * kWordBytes + kMaxRecordBytes;
// How soon a thread looks again for what others write into its memory.
constexpr nanoseconds kLookAgain{25'000};

// A transaction in a batch, and what it wants.
struct BatchItem {
  std::uint32_t coroutine;
  std::uint32_t accesses;
  std::uint64_t number;
};
struct BatchAccess {
  Key key;
  TableId table;
  bool write;
  std::uint8_t unused[5];
};
struct BatchHeader {
  std::uint64_t epoch;
};
struct ValueHeader {
  std::uint32_t coroutine;
  std::uint32_t item;
  std::uint64_t number;
  std::uint64_t offset;
};
struct EndHeader {
  std::uint32_t coroutine;
  std::uint32_t writes;
  std::uint64_t number;
};
struct EndWrite {
  std::uint64_t offset;
  TableId table;
  std::uint8_t unused[6];
};

template <typename T>
void Append(std::vector<std::byte>& out, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

template <typename T>
T Take(Bytes& in) {
  T value;
  SLIM_CHECK(in.size() >= sizeof value, "a broken message between transactions");
  std::memcpy(&value, in.data(), sizeof value);
  in = in.subspan(sizeof value);
  return value;
}

std::vector<std::byte> NewMessage(std::uint16_t what) {
  std::vector<std::byte> message;
  Append(message, CallHeader{.what = what});
  return message;
}

}  // namespace

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

// --- sequencer

void CalvinThread::Submit(std::uint32_t coroutine, std::span<Access* const> accesses,
                          Pending& pending) {
  Running& running = running_[coroutine];
  running.number = ++numbers_[coroutine];
  running.accesses.assign(accesses.begin(), accesses.end());
  running.arrived.assign(accesses.size(), false);
  running.pending = &pending;
  pending.left = static_cast<std::uint32_t>(accesses.size());
  missing_ += accesses.size();
  std::vector<std::byte>& item = waiting_.emplace_back();
  Append(item, BatchItem{coroutine, pending.left, running.number});
  for (const Access* const access : accesses) {
    Append(item, BatchAccess{access->key, access->table->id(), access->write, {}});
  }
}

// Whether another sequencer has closed the epoch that is open here: then it must not wait for us.
bool CalvinThread::Heard() const {
  const auto first = batches_.lower_bound({next_epoch_, 0});
  if (first != batches_.end()) return true;
  if (!one_sided(Stage::kLock)) return false;
  for (std::size_t s = 0; s < sequencers(); ++s) {
    if (WordAt(Own(BatchAt(next_epoch_, s))).load() == next_epoch_ + 1) return true;
  }
  return false;
}

bool CalvinThread::MayBroadcast() const {
  if (!engine_.cluster().computes() || (waiting_.empty() && !Heard())) return false;
  if (!one_sided(Stage::kLock) || next_epoch_ < kEpochSlots) return true;
  for (std::size_t s = 0; s < schedulers(); ++s) {
    if (WordAt(Own(ConsumedAt(s))).load() <= next_epoch_ - kEpochSlots) return false;
  }
  return true;
}

void CalvinThread::Broadcast() {
  const std::uint64_t epoch = next_epoch_++;
  const std::size_t me = NumberOf(self_);
  std::vector<std::byte> batch;
  while (!waiting_.empty() && batch.size() + waiting_.front().size() <= kBatchBytes) {
    batch.insert(batch.end(), waiting_.front().begin(), waiting_.front().end());
    waiting_.pop_front();
  }
  worker_.endpoint().SetStage(TrafficStage(Stage::kLock));
  Outgoing* outgoing = nullptr;
  std::vector<std::byte> message;
  if (one_sided(Stage::kLock)) {
    outgoing = &NewOutgoing();
    Append(outgoing->bytes, std::uint64_t{batch.size()});
    outgoing->bytes.insert(outgoing->bytes.end(), batch.begin(), batch.end());
    outgoing->words[0] = epoch + 1;
  } else {
    message = NewMessage(kBatch);
    Append(message, BatchHeader{epoch});
    message.insert(message.end(), batch.begin(), batch.end());
  }
  for (std::size_t s = 0; s < schedulers(); ++s) {
    const EndpointAddress to = Thread(s);
    if (s == me) {
      batches_[{epoch, me}] = batch;
    } else if (outgoing != nullptr) {
      const std::uint64_t at = BatchAt(epoch, me);
      Write(to, at + kWordBytes, outgoing->bytes, outgoing->pending);
      Write(to, at, std::as_bytes(std::span(outgoing->words).first(1)), outgoing->pending);
    } else {
      worker_.endpoint().Send(to, kRequestHandler, message);
    }
  }
}

void CalvinThread::Arrived(std::uint32_t coroutine, std::uint32_t item, std::uint64_t number,
                           std::uint64_t offset, const std::byte* version) {
  Running& running = running_.at(coroutine);
  SLIM_CHECK(running.number == number && !running.arrived[item], "a value that nobody waits for");
  Access& access = *running.accesses[item];
  access.offset = offset;
  if (offset != 0) {
    LoadWords(access.version_bytes(), version, access.table->version_bytes());
    access.has_image = true;
  }
  running.arrived[item] = true;
  --missing_;
  worker_.Ended(*running.pending);
}

void CalvinThread::LookForValues() {
  for (auto& [coroutine, running] : running_) {
    for (std::uint32_t item = 0; item < running.arrived.size(); ++item) {
      if (running.arrived[item]) continue;
      std::byte* const slot = Own(ValueAt(coroutine, item));
      if (WordAt(slot).load() != running.number) continue;
      const std::uint64_t offset = WordAt(slot + kWordBytes).load();
      Arrived(coroutine, item, running.number, offset, slot + 2 * kWordBytes);
    }
  }
}

void CalvinThread::Finish(std::uint32_t coroutine, std::span<Access* const> accesses, bool commit,
                          Pending& pending) {
  Running& running = running_[coroutine];
  // Of a transaction that was never submitted there is nothing to give back.
  if (running.accesses.empty()) return;
  const std::uint64_t number = running.number;
  running.accesses.clear();
  running.arrived.clear();
  worker_.endpoint().SetStage(TrafficStage(Stage::kCommit));
  std::map<std::size_t, std::vector<Access*>> by_scheduler;
  for (Access* const access : accesses) {
    if (access->offset == 0) continue;
    const EndpointAddress server = engine_.ServerOf(*access->table, access->key);
    by_scheduler[NumberOf(server)].push_back(access);
  }
  for (const auto& [scheduler, theirs] : by_scheduler) {
    const EndpointAddress to = Thread(scheduler);
    const auto written = [&](const Access* access) { return commit && access->write; };
    if (to == self_ || one_sided(Stage::kCommit)) {
      for (Access* const access : theirs) {
        if (!written(access)) continue;
        const Bytes version(access->version_bytes(), access->table->version_bytes());
        const std::uint64_t at = access->offset + access->table->version_at(0);
        worker_.endpoint().Write(to.node, access->table->region(), at, version,
                                 worker_.Tag(pending));
      }
      theirs[0]->put[0] = number;
      const std::uint64_t at = DoneAt(NumberOf(self_), coroutine);
      Write(to, at, std::as_bytes(std::span(theirs[0]->put).first(1)), pending);
      continue;
    }
    std::vector<std::byte> message = NewMessage(kEnd);
    const auto writes = std::count_if(theirs.begin(), theirs.end(), written);
    Append(message, EndHeader{coroutine, static_cast<std::uint32_t>(writes), number});
    for (const Access* const access : theirs) {
      if (!written(access)) continue;
      Append(message, EndWrite{access->offset, access->table->id(), {}});
      message.insert(message.end(), access->version_bytes(),
                     access->version_bytes() + access->table->version_bytes());
    }
    worker_.endpoint().Send(to, kRequestHandler, message);
  }
  worker_.endpoint().Ring();
}

// --- scheduler

void CalvinThread::TakeBatches() {
  if (!one_sided(Stage::kLock)) return;
  const std::size_t me = engine_.cluster().computes() ? NumberOf(self_) : sequencers();
  for (std::size_t s = 0; s < sequencers(); ++s) {
    if (s == me || batches_.contains({scheduling_, s})) continue;
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
    if (!batches_.contains({scheduling_, s})) return false;
  }
  for (std::size_t s = 0; s < sequencers(); ++s) {
    const auto batch = batches_.extract({scheduling_, s});
    Schedule(s, batch.mapped());
  }
  ++scheduling_;
  if (!one_sided(Stage::kLock)) return true;
  worker_.endpoint().SetStage(TrafficStage(Stage::kLock));
  Outgoing& outgoing = NewOutgoing();
  outgoing.words[0] = scheduling_;
  for (std::size_t s = 0; s < sequencers(); ++s) {
    Write(Thread(s), ConsumedAt(NumberOf(self_)), std::as_bytes(std::span(outgoing.words).first(1)),
          outgoing.pending);
  }
  return true;
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
  const std::uint64_t offset = table.FindOrPlace(key);
  if (offset == 0) return Forward(request, table, 0);
  const std::pair place{table.id(), offset};
  auto& held = held_[{NumberOf(request.coordinator), request.coroutine}];
  if (held.empty() || held.back().number != request.number) held.push_back({request.number, {}});
  held.back().tuples.push_back(place);
  Queue& queue = queues_.try_emplace(place, Queue{&table, offset, {}}).first->second;
  queue.requests.push_back(request);
  Grant(queue);
}

// To the first, and where that only reads, to all that follow up to the first that writes.
void CalvinThread::Grant(Queue& queue) {
  for (std::size_t i = 0; i < queue.requests.size(); ++i) {
    Request& request = queue.requests[i];
    if (request.write && i > 0) return;
    if (!request.granted) {
      request.granted = true;
      Forward(request, *queue.table, queue.offset);
    }
    if (request.write) return;
  }
}

void CalvinThread::Forward(const Request& request, Table& table, std::uint64_t offset) {
  const std::byte* const version =
      offset == 0 ? nullptr : table.memory() + offset + table.version_at(0);
  const std::uint64_t bytes = offset == 0 ? 0 : table.version_bytes();
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
  for (const auto& place : held.tuples) {
    const auto found = queues_.find(place);
    std::erase_if(found->second.requests, [&](const Request& request) {
      return request.coordinator == coordinator && request.coroutine == coroutine &&
             request.number == number;
    });
    if (found->second.requests.empty()) {
      queues_.erase(found);
    } else {
      Grant(found->second);
    }
  }
}

// --- both

void CalvinThread::Serve(const Message& message) {
  Bytes rest = message.body;
  const auto header = Take<CallHeader>(rest);
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
      StoreWords(table.memory() + write.offset + table.version_at(0), rest.data(),
                 table.version_bytes());
      rest = rest.subspan(table.version_bytes());
    }
    End(message.from, end.coroutine, end.number);
  }
}

nanoseconds CalvinThread::Work() {
  // Ends first: they make room for others.
  LookForEnds();
  if (one_sided(Stage::kRead) && missing_ > 0) LookForValues();
  while (MayBroadcast()) Broadcast();
  while (ScheduleEpoch()) {
  }
  worker_.endpoint().Ring();
  // Messages wake the thread; what is written into its memory does not.
  const bool looks = one_sided(Stage::kLock) || (one_sided(Stage::kRead) && missing_ > 0) ||
                     (one_sided(Stage::kCommit) && !queues_.empty());
  return looks || !waiting_.empty() ? kLookAgain : nanoseconds(0);
}

}  // namespace slimgraph::txn
