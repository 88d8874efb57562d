// The part of a thread that runs transactions: their order, their values, their ends.
#include <algorithm>

#include "slimgraph/base/words.h"
#include "txnlayer/protocol/calvin_thread.h"
#include "txnlayer/protocol/calvin_wire.h"
#include "txnlayer/ticks.h"

namespace slimgraph::txn {

using namespace calvin;

void CalvinThread::Submit(std::uint32_t coroutine, std::span<Access* const> accesses) {
  Running& running = running_[coroutine];
  running.number = ++numbers_[coroutine];
  running.submitted = Ticks();
  running.sent = {.left = 1};
  running.values = {.left = static_cast<std::uint32_t>(accesses.size())};
  running.accesses.assign(accesses.begin(), accesses.end());
  running.arrived.assign(accesses.size(), false);
  missing_ += accesses.size();
  if (loses_) return Abandon(running);
  std::vector<std::byte>& item = waiting_.emplace_back();
  Append(item, BatchItem{coroutine, running.values.left, running.number});
  for (const Access* const access : accesses) {
    Append(item, BatchAccess{access->key, access->table->id(), access->write, {}});
  }
}

// No value that is still to come is waited for, nor taken in.
void CalvinThread::Abandon(Running& running) {
  if (running.values.left == 0) return;
  missing_ -= running.values.left;
  running.accesses.clear();
  running.arrived.clear();
  running.values.lost = true;
  if (running.sent.left > 0) worker_.Ended(running.sent);
  while (running.values.left > 0) worker_.Ended(running.values);
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
    if (!Lives(s)) continue;
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
    BatchItem item;
    std::memcpy(&item, waiting_.front().data(), sizeof item);
    worker_.Ended(running_[item.coroutine].sent);
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
    if (!Lives(s)) continue;
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
  if (loses_ && running.accesses.empty()) return;
  SLIM_CHECK(running.number == number && !running.arrived[item], "a value that nobody waits for");
  Access& access = *running.accesses[item];
  access.offset = offset;
  if (offset != 0) {
    LoadWords(access.version_bytes(), version, access.table->version_bytes());
    access.has_image = true;
  }
  running.arrived[item] = true;
  --missing_;
  worker_.Ended(running.values);
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
        worker_.endpoint().Write(to.node, access->table->region(access->rank), at, version,
                                 worker_.Tag(pending));
      }
      theirs[0]->put[0] = number;
      const std::uint64_t at = DoneAt(NumberOf(self_), coroutine);
      Write(to, at, std::as_bytes(std::span(theirs[0]->put).first(1)), pending);
      continue;
    }
    std::vector<std::byte> message;
    std::uint32_t writes = 0;
    // Messages keep their order: the last one ends the transaction.
    const auto send = [&](std::uint16_t what) {
      std::vector<std::byte> whole = NewMessage(what);
      Append(whole, EndHeader{coroutine, writes, number});
      whole.insert(whole.end(), message.begin(), message.end());
      worker_.endpoint().Send(to, kRequestHandler, whole);
      message.clear();
      writes = 0;
    };
    for (const Access* const access : theirs) {
      if (!written(access)) continue;
      const std::size_t bytes = sizeof(EndWrite) + access->table->version_bytes();
      if (message.size() + bytes > kMaxMessageBytes / 2) send(kWrites);
      Append(message, EndWrite{access->offset, access->rank, access->table->id(), {}});
      message.insert(message.end(), access->version_bytes(),
                     access->version_bytes() + access->table->version_bytes());
      ++writes;
    }
    send(kEnd);
  }
  worker_.endpoint().Ring();
}

}  // namespace slimgraph::txn
