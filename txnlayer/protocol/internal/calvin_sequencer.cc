// CalvinThread as a sequencer: orders its coroutines' transactions, and sees to their values and
// ends.
#include <algorithm>

#include "slimgraph/base/ticks.h"
#include "slimgraph/base/words.h"
#include "txnlayer/protocol/internal/calvin_thread.h"
#include "txnlayer/protocol/internal/calvin_wire.h"

namespace slimgraph::txn {

using namespace calvin;

void CalvinThread::Submit(std::uint32_t coroutine, std::span<Access* const> accesses,
                          Accesses which) {
  Running& running = running_[coroutine];
  running.number = ++numbers_[coroutine];
  running.submitted = Ticks();
  running.scheduled = {.left = 1};
  running.values = {.left = static_cast<std::uint32_t>(accesses.size())};
  running.accesses.assign(accesses.begin(), accesses.end());
  running.missing.clear();
  running.missing.resize(accesses.size(), true);
  missing_ += accesses.size();
  if (death_seen_) return Abandon(running);
  Append(unsent_transactions_, BatchItem{coroutine, running.values.left, running.number});
  for (Access* const access : accesses) {
    access->locked = access->write && which == Accesses::kAsNamed;  // from when it is admitted
    Append(unsent_transactions_, BatchAccess{access->key, access->table->id(), access->locked, {}});
  }
}

// Ends the wait for missing values, and ignores those that still come.
void CalvinThread::Abandon(Running& running) {
  if (running.scheduled.left > 0) worker_.CompleteOne(running.scheduled);
  if (running.values.left == 0) return;
  missing_ -= running.values.left;
  running.accesses.clear();
  running.missing.reset();
  running.values.lost = true;
  while (running.values.left > 0) worker_.CompleteOne(running.values);
}

// Whether another sequencer has closed this thread's open epoch, which must then be closed here
// too.
bool CalvinThread::OthersClosedEpoch() const {
  for (std::size_t i = next_epoch_ - scheduling_; i < batches_.size(); ++i) {
    if (batches_[i].count > 0) return true;
  }
  for (std::size_t s = 0; s < sequencers_; ++s) {
    if (WordAt(Own(BatchAt(next_epoch_, s))).load() == next_epoch_ + 1) return true;
  }
  return false;
}

bool CalvinThread::MayBroadcast() const {
  if (!engine_.cluster().computes() || (unsent_transactions_.empty() && !OthersClosedEpoch()))
    return false;
  if (!one_sided(Stage::kLock, next_epoch_) || next_epoch_ < kEpochSlots) return true;
  for (std::size_t s = 0; s < schedulers_; ++s) {
    if (!Alive(s)) continue;
    if (WordAt(Own(ConsumedAt(s))).load() <= next_epoch_ - kEpochSlots) return false;
  }
  return true;
}

// The messages that bring a batch: one for each part.
std::vector<std::vector<std::byte>> CalvinThread::MessagesOf(std::uint64_t epoch,
                                                             Bytes batch) const {
  std::vector<std::vector<std::byte>> messages;
  do {
    const Bytes part = batch.first(std::min<std::size_t>(batch.size(), kBatchBytes));
    batch = batch.subspan(part.size());
    std::vector<std::byte>& message = messages.emplace_back();
    message = NewMessage(batch.empty() ? kBatch : kBatchPart);
    Append(message, BatchHeader{epoch});
    message.insert(message.end(), part.begin(), part.end());
  } while (!batch.empty());
  return messages;
}

void CalvinThread::Broadcast() {
  const std::uint64_t epoch = next_epoch_++;
  const std::size_t me = NumberOf(self_);
  std::size_t bytes = 0;
  for (Bytes rest(unsent_transactions_); !rest.empty();
       rest = Bytes(unsent_transactions_).subspan(bytes)) {
    BatchItem item;
    std::memcpy(&item, rest.data(), sizeof item);
    const std::size_t end = bytes + sizeof item + item.accesses * sizeof(BatchAccess);
    if (end > kBatchBytes && bytes > 0) break;
    bytes = end;
    running_[item.coroutine].epoch = epoch;
  }
  const Bytes batch = Bytes(unsent_transactions_).first(bytes);
  worker_.endpoint().SetStage(TrafficStage(Stage::kLock));
  Outgoing* outgoing = nullptr;
  std::vector<std::vector<std::byte>> messages;
  if (one_sided(Stage::kLock, epoch) && bytes <= kBatchBytes) {
    outgoing = &NewOutgoing();
    Append(outgoing->bytes, std::uint64_t{batch.size()});
    outgoing->bytes.insert(outgoing->bytes.end(), batch.begin(), batch.end());
    outgoing->words[0] = epoch + 1;
  } else {
    messages = MessagesOf(epoch, batch);
  }
  for (std::size_t s = 0; s < schedulers_; ++s) {
    const EndpointAddress to = Thread(s);
    if (!Alive(s)) continue;
    if (s == me) {
      TakeBatch(epoch, me, batch);
    } else if (outgoing != nullptr) {
      const std::uint64_t at = BatchAt(epoch, me);
      Write(to, at + kWordBytes, outgoing->bytes, outgoing->pending);
      Write(to, at, std::as_bytes(std::span(outgoing->words).first(1)), outgoing->pending);
    } else {
      for (const auto& message : messages) {
        worker_.endpoint().Send(to, kRequestHandler, message);
      }
    }
  }
  unsent_transactions_.erase(unsent_transactions_.begin(),
                             unsent_transactions_.begin() + static_cast<std::ptrdiff_t>(bytes));
}

// Marks a transaction as scheduled, unless it was abandoned.
void CalvinThread::Scheduled(std::uint32_t coroutine, std::uint64_t number) {
  Running& running = running_[coroutine];
  if (running.number == number && running.scheduled.left > 0)
    worker_.CompleteOne(running.scheduled);
}

void CalvinThread::TakeValue(std::uint32_t coroutine, std::uint32_t item, std::uint64_t number,
                             std::uint64_t offset, const std::byte* version) {
  Running& running = running_.at(coroutine);
  if (death_seen_ && running.accesses.empty()) return;
  SLIM_CHECK(running.number == number && running.missing.test(item), "an unexpected value");
  Access& access = *running.accesses[item];
  access.offset = offset;
  if (offset != 0) {
    LoadWords(access.version_bytes(), version, access.table->version_bytes());
    access.has_image = true;
  }
  running.missing.reset(item);
  --missing_;
  worker_.CompleteOne(running.values);
}

// Polls for values. First finds and prefetches all that have arrived, so that their cache misses
// overlap. Stops at the first missing value of a transaction, as the transaction needs all of them.
void CalvinThread::PollValues() {
  for (std::uint32_t coroutine = 0; coroutine < engine_.options().coroutines; ++coroutine) {
    const Running& running = running_[coroutine];
    for (std::size_t item = running.missing.find_first(); item < kValueSlots;
         item = running.missing.find_next(item)) {
      std::byte* const slot = Own(ValueAt(coroutine, item));
      if (WordAt(slot).load() != running.number) break;
      __builtin_prefetch(slot + kCacheLineBytes);
      arrived_values_.emplace_back(coroutine, static_cast<std::uint32_t>(item));
    }
  }
  for (const auto& [coroutine, item] : arrived_values_) {
    std::byte* const slot = Own(ValueAt(coroutine, item));
    const std::uint64_t offset = WordAt(slot + kWordBytes).load();
    TakeValue(coroutine, item, running_[coroutine].number, offset, slot + 2 * kWordBytes);
  }
  arrived_values_.clear();
}

void CalvinThread::Finish(std::uint32_t coroutine, std::span<Access* const> accesses, bool commit,
                          Pending& pending) {
  Running& running = running_[coroutine];
  // A transaction that was never submitted holds no tuples.
  if (running.accesses.empty()) return;
  const std::uint64_t number = running.number;
  const bool by_writes = one_sided(Stage::kCommit, running.epoch);
  running.accesses.clear();
  running.missing.reset();
  worker_.endpoint().SetStage(TrafficStage(Stage::kCommit));
  // Groups the accesses by scheduler, and ends the transaction at one scheduler after the other.
  servers_.clear();
  for (const Access* const access : accesses) servers_.push_back(ServerOf(*access));
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    if (servers_[i] == kNobody) continue;
    const std::size_t scheduler = servers_[i];
    scheduler_accesses_.clear();
    for (std::size_t j = i; j < accesses.size(); ++j) {
      if (servers_[j] != scheduler) continue;
      servers_[j] = kNobody;
      scheduler_accesses_.push_back(accesses[j]);
    }
    const EndpointAddress to = Thread(scheduler);
    const auto written = [&](const Access* access) { return commit && access->write; };
    if (to == self_ || by_writes) {
      for (Access* const access : scheduler_accesses_) {
        if (!written(access)) continue;
        const Bytes version(access->version_bytes(), access->table->version_bytes());
        const std::uint64_t at = access->offset + access->table->version_at(0);
        worker_.endpoint().Write(to.node, access->table->region(access->rank), at, version,
                                 worker_.Tag(pending));
      }
      scheduler_accesses_[0]->put[0] = number;
      const std::uint64_t at = DoneAt(NumberOf(self_), coroutine);
      Write(to, at, std::as_bytes(std::span(scheduler_accesses_[0]->put).first(1)), pending);
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
    for (const Access* const access : scheduler_accesses_) {
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
  Wake();
}

// The number of the thread that schedules the tuple.
std::size_t CalvinThread::ServerOf(const Access& access) const {
  if (access.offset == 0) return kNobody;
  return NumberOf(engine_.ServerOf(*access.table, access.key));
}

}  // namespace slimgraph::txn
