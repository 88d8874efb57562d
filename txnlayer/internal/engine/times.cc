// What transactions do for read timestamps (stages/read_at.h).
#include <algorithm>

#include "slimgraph/base/clock.h"
#include "txnlayer/internal/engine/engine_thread.h"
#include "txnlayer/internal/stages/read_at.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

// Versions are kept for so long at least, as a read-only transaction may have chosen its time but
// not published it yet, and clocks differ. If that takes longer, it may have to be tried again.
constexpr std::uint64_t kKeptAtLeastUs = 5'000;
constexpr std::uint64_t kHorizonEveryNs = 200'000;

}  // namespace

// Publishes since when the transaction reads, and chooses the time at which it reads.
void Transaction::BeginReading(std::uint64_t now_ns) {
  const Timestamps timestamps = engine_.protocol().shape().timestamps;
  // Under kDst, it is after all commits of this node.
  for (const auto& thread : engine_.threads_) {
    if (timestamps != Timestamps::kDst) break;
    thread_.clock.AdvancePast(thread->times->last_commit.load(std::memory_order_acquire));
  }
  reading_since_ =
      orders_ ? thread_.clock.NextTimestamp(owner_, now_ns) : thread_.clock.TimeAt(now_ns);
  thread_.times->readers.Add(reading_since_);
  timestamp_ = reading_since_;
  const OldVersions& all = *engine_.tables().old_versions();
  if (timestamps == Timestamps::kGlobal) {
    ReadCounters(all.CounterAt(), {&counted_, 1});
    timestamp_ = counted_;
  } else if (timestamps == Timestamps::kVector) {
    sees_.resize(std::size_t{engine_.tables().view().nodes()} * all.threads());
    ReadCounters(all.CountersAt(), sees_);
  }
}

// Those of node 0, which never dies.
void Transaction::ReadCounters(std::uint64_t at, std::span<Timestamp> counters) {
  const OldVersions& all = *engine_.tables().old_versions();
  const auto into = std::as_writable_bytes(counters);
  if (self_ == 0 && by_processor_) return LoadWords(into.data(), all.memory() + at, into.size());
  task_.worker().endpoint().Read(0, all.region(), at, into, task_.worker().Tag(frame_->pending));
  task_.Await(frame_->pending);
}

// At home at once, from another node one-sided where that is possible.
void Transaction::PostReadingAt(Port& port, Access& access) {
  if (!Remote(access)) return;
  access.asked = access.offset == 0 || !by_processor_ || !one_sided(Stage::kRead);
  if (access.asked) {
    AddToRequest(static_cast<std::uint16_t>(Stage::kReadAt), access);
  } else {
    PostReadAt(port, access);
  }
}

Step Transaction::CheckReadingAt(Access& access, Step answered) const {
  Step step = answered;
  if (!Remote(access)) {
    step = ReadAt(engine_.protocol(), access);
  } else if (!access.asked) {
    step = CheckReadAt(engine_.protocol(), access);
  }
  if (access.seen_timestamp > timestamp_) NoteAhead(access.seen_timestamp);
  return step;
}

void Transaction::EndReading() { thread_.times->readers.Remove(reading_since_); }

void Transaction::NoteAhead(Timestamp seen) const {
  const std::uint64_t now = thread_.clock.ClockAt(NowNs());
  if (ClockOf(seen) <= now) return;
  figures_.most_ahead_us = std::max(figures_.most_ahead_us, ClockOf(seen) - now);
}

// Called before the caller of the transaction changes the records. At their homes, the versions
// that are replaced are copied from the tuples.
void Transaction::CopyReplaced(std::span<Access* const> accesses) {
  if (orders_) return;  // it is another version than the one that was read
  for (Access* const access : accesses) {
    if (!access->write) continue;
    access->existed = access->exists();
    if (!SendsReplaced(*access)) continue;
    const Table& table = *access->table;
    access->kept.SetImage(access->key, access->version_bytes(), table.version_bytes());
  }
}

// A time after those of all that it has read, and of those that have read what it writes.
Timestamp Transaction::TimeAfterTuples() {
  // Later than all that committed before the last moment between commits, which the clock knows.
  Timestamp time = thread_.clock.TimeAt(began_ns_) + 1;
  for (Access* const access : accesses()) {
    if (access->absent) continue;
    time = std::max(time, access->time(TimeWord::kWritten) + 1);
    if (!access->write) continue;
    time =
        std::max({time, access->time(TimeWord::kClaimed) + 1, access->time(TimeWord::kMarked) + 1});
  }
  thread_.clock.AdvancePast(time);
  return time;
}

// Takes a time from the global counter, or counts a commit of this thread and tells node 0. False:
// a node has died.
bool Transaction::Count(Timestamp& time) {
  const OldVersions& all = *engine_.tables().old_versions();
  const bool here = self_ == 0 && by_processor_;
  Endpoint& endpoint = task_.worker().endpoint();
  if (engine_.protocol().shape().timestamps == Timestamps::kGlobal) {
    const std::uint64_t at = all.CounterAt();
    if (here) {
      counted_ = WordAt(all.memory() + at).fetch_add(1);
    } else {
      endpoint.FetchAdd(0, all.region(), at, 1, &counted_, task_.worker().Tag(frame_->pending));
      task_.Await(frame_->pending);
    }
    time = counted_ + 1;
  } else {
    counted_ = ++thread_.times->commits;
    time = TimestampOf(counted_, owner_);
    const std::uint64_t at = all.CountersAt() + all.ThreadOf(time) * kWordBytes;
    if (here) {
      WordAt(all.memory() + at).store(counted_);
    } else {
      endpoint.Write(0, all.region(), at, std::as_bytes(std::span(&counted_, 1)),
                     task_.worker().Tag(frame_->pending));
      task_.Await(frame_->pending);
    }
  }
  if (!Abandoned()) return true;
  reason_ = AbortReason::kNodeLost;
  return false;
}

bool Transaction::ChooseCommitTime() {
  Timestamp time = 0;
  if (engine_.protocol().shape().timestamps == Timestamps::kDst) {
    time = TimeAfterTuples();
  } else if (!Count(time)) {
    return false;
  }
  for (Access* const access : accesses()) {
    access->commit_timestamp = time;
  }
  return true;
}

// Reads the versions that are to be sent.
bool Transaction::CommitAtTimestamp() {
  Port port(task_, frame_->pending, near_, engine_.options_.doorbells);
  for (Access* const access : accesses()) {
    access->commit_timestamp = timestamp_;
    if (!access->write || !SendsReplaced(*access)) continue;
    const ReplacedVersion replaced = engine_.protocol().Replaces(*access);
    const Table& table = *access->table;
    std::memcpy(access->kept.image(), &access->key, kWordBytes);
    port.Read(*access, table.version_at(replaced.place), table.version_bytes(),
              access->kept.image() + kWordBytes);
  }
  port.End();
  task_.Await(frame_->pending);
  if (!Abandoned()) return true;
  reason_ = AbortReason::kNodeLost;
  return false;
}

void Transaction::KeepReplaced(Access& access) {
  const ReplacedVersion replaced = engine_.protocol().Replaces(access);
  access.kept_at = kNoOlder;
  if (!replaced.there) return;
  const std::uint64_t bytes = OldVersions::KeptBytes(access.table->image_bytes());
  Timestamp until = access.commit_timestamp;
  if (!access.table->leaves_times()) {  // whoever begins from now on sees this commit
    until = TimestampOf(thread_.clock.ClockAt(NowNs()) + kKeptAtLeastUs, 0);
  }
  access.kept_at = thread_.times->kept.Take(access.home, bytes, until);
  if (access.kept_at == kNotKept) return;
  if (!SendsReplaced(access)) return;
  access.kept.Seal(bytes, replaced.written, replaced.older, access.kept_as());
}

// Asks all threads for their oldest read-only transactions. What a node that is dead or cannot be
// reached would say does not matter: its transactions never end.
void Transaction::FindHorizon() {
  const std::uint64_t now_ns = NowNs();
  if (now_ns - thread_.times->horizon_at_ns < kHorizonEveryNs) return;
  thread_.times->horizon_at_ns = now_ns;
  const OldVersions& all = *engine_.tables().old_versions();
  const View& view = engine_.tables().view();
  std::vector<Timestamp> oldest(std::size_t{view.nodes()} * all.threads(), OldVersions::kNoReader);
  Endpoint& endpoint = task_.worker().endpoint();
  for (NodeId node = 0; node < view.nodes(); ++node) {
    const auto theirs =
        std::as_writable_bytes(std::span(oldest).subspan(node * all.threads(), all.threads()));
    if (node == self_) {
      LoadWords(theirs.data(), all.memory(), theirs.size());
    } else if (view.alive(node)) {
      endpoint.Read(node, all.region(), 0, theirs, task_.worker().Tag(frame_->pending));
    }
  }
  task_.Await(frame_->pending);
  const std::uint64_t clock = ClockOf(thread_.clock.Latest());
  const Timestamp recent = TimestampOf(clock - std::min(clock, kKeptAtLeastUs), 0);
  thread_.times->kept.SetHorizon(std::min(recent, *std::min_element(oldest.begin(), oldest.end())));
}

}  // namespace slimgraph::txn
