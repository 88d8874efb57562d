// Takes a transaction's tuples through a stage, one-sided or two-sided as the stage code says.
#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/ticks.h"
#include "slimgraph/stats/stage.h"
#include "txnlayer/internal/engine/engine_thread.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

// How often a briefly locked tuple is checked before the transaction aborts.
constexpr std::uint32_t kMostBusyChecks = 24;
// The first rounds only yield to other coroutines. Later rounds also sleep: 1 us, doubled up to 64.
constexpr std::uint32_t kQuickRounds = 3;
constexpr std::uint32_t kMostWaitDoublings = 6;

// The last stages follow a decision, so they are carried through even when a node has died.
bool IsLast(Stage stage) { return stage == Stage::kCommit || stage == Stage::kRelease; }

}  // namespace

StageId TrafficStage(Stage stage) {
  static const auto ids = [] {
    std::array<StageId, kNumStages> made;
    for (std::size_t i = 0; i < kNumStages; ++i) {
      made[i] = StageNamed(StageName(static_cast<Stage>(i)));
    }
    return made;
  }();
  return ids[static_cast<std::size_t>(stage)];
}

// Whether results of operations may be missing because a node died or an operation failed.
bool Transaction::Abandoned() {
  if (task_.worker().failed()) return true;
  return engine_.replication() != nullptr && (frame_->pending.lost || engine_.repairing());
}

bool Transaction::RunStage(Stage stage, std::span<Access* const> accesses) {
  if (accesses.empty()) return true;
  const std::uint64_t start = Ticks();
  bool well = true;
  if (engine_.options_.outstanding) {
    well = RunTogether(stage, accesses);
  } else {
    for (std::size_t i = 0; i < accesses.size() && well; ++i) {
      well = RunTogether(stage, accesses.subspan(i, 1));
    }
  }
  NoteTime(stage, start);
  return well;
}

bool Transaction::StartStage(Stage stage, std::span<Access* const> accesses) {
  if (!Locate(stage, accesses)) return false;
  todo_.assign(accesses.begin(), accesses.end());
  PostRound(stage, true);
  task_.worker().endpoint().Ring();
  for (Access* const access : todo_) access->begun = true;
  begun_.insert(begun_.end(), todo_.begin(), todo_.end());
  begun_stage_ = stage;
  return true;
}

// Called when the transaction aborts before it has awaited the steps it started, which may have
// taken locks.
void Transaction::FinishStarted() {
  if (begun_.empty()) return;
  const std::vector<Access*> begun = begun_;
  RunTogether(begun_stage_, begun);
}

void Transaction::RunLastStage(Stage stage, std::span<Access* const> accesses) {
  if (!engine_.options_.passive) {
    SLIM_CHECK(RunStage(stage, accesses) || task_.worker().failed(), "the last stage cannot fail");
    return;
  }
  if (accesses.empty()) return;
  const std::uint64_t start = Ticks();
  todo_.assign(accesses.begin(), accesses.end());
  for (Access* const access : todo_) access->step = 0;
  PostRound(stage, false);
  for (Access* const access : todo_) engine_.protocol().Check(stage, *access);
  task_.worker().endpoint().Ring();
  NoteTime(stage, start);
}

void Transaction::NoteTime(Stage stage, std::uint64_t start) {
  const std::size_t form = one_sided(stage) ? 1 : 0;
  ++figures_.stage_runs[form][static_cast<std::size_t>(stage)];
  figures_.stage_ns[form][static_cast<std::size_t>(stage)] += Ticks() - start;
  engine_.MaybeDieAfter(stage);
}

bool Transaction::RunTogether(Stage stage, std::span<Access* const> accesses) {
  if (!Locate(stage, accesses)) return false;
  todo_.assign(accesses.begin(), accesses.end());
  for (Access* const access : todo_) access->step = 0;
  bool well = true;
  for (std::uint32_t round = 0, looks = 0;; ++round) {
    PostRound(stage, true);
    task_.Await(frame_->pending);
    if (Abandoned() && !IsLast(stage)) {
      reason_ = AbortReason::kNodeLost;
      return false;
    }
    TakeReplies();
    for (Access* const access : begun_) access->begun = false;
    begun_.clear();
    const Step::Kind in_the_way = CheckRound(stage);
    if (in_the_way == Step::kBusy && ++looks > kMostBusyChecks && reason_ == AbortReason::kNone) {
      reason_ = AbortReason::kLocked;
      conflict_ = {stage, next_.front()->table, next_.front()->key};
    }
    if (reason_ != AbortReason::kNone || task_.worker().failed()) well = false;
    if (!well) {
      // An access that is counted as waiting must continue until that is undone.
      std::erase_if(next_, [](const Access* access) { return !access->waiting; });
      if (task_.worker().failed()) next_.clear();
      for (Access* const access : next_) engine_.protocol().CancelWait(*access);
    }
    todo_.swap(next_);
    if (todo_.empty()) return well;
    if (in_the_way != Step::kDone) WaitBeforeRecheck(round);
  }
}

// Posts one step of each access in todo_ that has not begun it yet.
void Transaction::PostRound(Stage stage, bool wait) {
  task_.worker().endpoint().SetStage(TrafficStage(stage));
  Port port(task_, frame_->pending, near_, engine_.options_.doorbells || !wait);
  if (begun_.empty()) frame_->requests_used = frame_->requests_sent = 0;
  const Protocol& protocol = engine_.protocol();
  const bool here_does_it = one_sided(stage);
  const bool sends = !here_does_it || stages_.asks();
  if (sends) steps_.assign(todo_.size(), Step::Done());
  for (std::size_t i = 0; i < todo_.size(); ++i) {
    Access* const access = todo_[i];
    access->round_index = static_cast<std::uint32_t>(i);
    if (access->begun) continue;
    if (stage == Stage::kReadAt && !orders_) [[unlikely]] {
      PostReadingAt(port, *access);
    } else if ((here_does_it && !access->asked) || !Remote(*access)) {
      protocol.Post(stage, port, *access);
    } else {
      AddToRequest(static_cast<std::uint16_t>(stage), *access);
    }
  }
  port.End();
  if (sends) SendRequests(wait);
}

// Adds a tuple to the current request to its server. A new request begins when that one is full.
void Transaction::AddToRequest(std::uint16_t what, Access& access) {
  const EndpointAddress server = engine_.ServerOf(*access.table, access.key);
  const std::size_t bytes = ItemBytes(what, access);
  // Only the last request to a server may have room left.
  Request* request = nullptr;
  for (std::size_t i = frame_->requests_used; i > frame_->requests_sent; --i) {
    Request& last = frame_->requests[i - 1];
    if (!(last.call.to == server)) continue;
    if (last.bytes + bytes < kMaxMessageBytes / 2) request = &last;
    break;
  }
  if (request == nullptr) {
    if (frame_->requests_used == frame_->requests.size()) frame_->requests.emplace_back();
    request = &frame_->requests[frame_->requests_used++];
    request->call.to = server;
    request->accesses.clear();
    request->bytes = 0;
    request->call.request.resize(sizeof(CallHeader));
    const CallHeader header{.what = what};
    std::memcpy(request->call.request.data(), &header, sizeof header);
    if (access.sees != nullptr) AppendSeen(sees_, request->call.request);
  }
  AppendRequest(what, access, request->call.request);
  request->accesses.push_back(&access);
  request->bytes += bytes;
}

void Transaction::SendRequests(bool wait) {
  for (; frame_->requests_sent < frame_->requests_used; ++frame_->requests_sent) {
    Request& request = frame_->requests[frame_->requests_sent];
    const auto items = static_cast<std::uint16_t>(request.accesses.size());
    std::memcpy(request.call.request.data() + offsetof(CallHeader, items), &items, sizeof items);
    // Requests with logged writes always get a reply, so that the log entry is kept until they are
    // done.
    const bool reply = wait || frame_->logged;
    task_.worker().Send(request.call, reply ? &frame_->pending : nullptr);
  }
}

// Takes the homes' replies, as results of the accesses' steps.
void Transaction::TakeReplies(std::size_t first) {
  for (std::size_t i = first; i < frame_->requests_used; ++i) {
    const Bytes reply(frame_->requests[i].call.reply);
    if (reply.empty()) continue;  // the home has died
    Bytes rest = reply.subspan(sizeof(CallHeader));
    for (Access* const access : frame_->requests[i].accesses) {
      const Step step = TakeReply(rest, *access);
      const std::uint32_t index = access->round_index;
      if (index < todo_.size() && todo_[index] == access) steps_[index] = step;
      if (access->offset != 0 && !access->absent) {
        thread_.cache.Insert(access->table->id(), access->key, access->offset);
      }
    }
  }
}

// Checks the results of a round, and collects in next_ the accesses that need another. Returns
// kBusy or kWait when another transaction blocks one of them.
Step::Kind Transaction::CheckRound(Stage stage) {
  const Protocol& protocol = engine_.protocol();
  const bool here_does_it = one_sided(stage);
  const bool reads_at = stage == Stage::kReadAt && !orders_;
  // Of other transactions they may be no times.
  const bool learns = stage == Stage::kReadAt || !thread_.times || orders_;
  Step::Kind in_the_way = Step::kDone;
  next_.clear();
  for (std::size_t i = 0; i < todo_.size(); ++i) {
    Access& access = *todo_[i];
    const bool here = (here_does_it && !access.asked) || !Remote(access);
    const Step step = reads_at ? CheckReadingAt(access, steps_[i])
                      : here   ? protocol.Check(stage, access)
                               : steps_[i];
    if (learns) thread_.clock.AdvancePast(access.seen_timestamp);
    switch (step.kind) {
      case Step::kDone:
        break;
      case Step::kAbort:
        if (reason_ != AbortReason::kNone) break;
        reason_ = step.reason;
        conflict_ = {stage, access.table, access.key};
        if (reason_ == AbortReason::kTableFull) SetTableFull(access);
        break;
      case Step::kBusy:
      case Step::kWait:
        in_the_way = step.kind;
        [[fallthrough]];
      default:
        next_.push_back(&access);
    }
  }
  return in_the_way;
}

void Transaction::WaitBeforeRecheck(std::uint32_t round) {
  if (round < kQuickRounds) return task_.Yield();
  task_.Sleep(std::uint64_t{1000} << std::min(round - kQuickRounds, kMostWaitDoublings));
}

// Finds the tuples' locations. Two-sided requests need none, as the home finds tuples by key.
bool Transaction::Locate(Stage stage, std::span<Access* const> accesses) {
  missing_.clear();
  const bool absence_suffices = engine_.protocol().absence_suffices();
  const bool asks = stages_.asks() && (stage == Stage::kRead || stage == Stage::kReadAt);
  for (Access* const access : accesses) {
    if (access->begun) continue;
    access->asked = false;
    if (access->offset != 0) continue;
    if (Remote(*access)) {
      access->offset = thread_.cache.Find(access->table->id(), access->key);
      if (access->offset != 0 || !one_sided(stage)) continue;
      access->asked = asks;
      if (!asks) missing_.push_back(access);
      continue;
    }
    if (only_reads_ && !orders_) {  // ReadAt() does the rest
      access->offset = access->table->Find(access->key, access->rank);
      if (access->offset != 0) access->table->PrefetchTuple(access->offset, access->rank);
      continue;
    }
    if (!access->Find(absence_suffices)) {
      access->FindOrInsert();
    }
    if (access->offset == 0) {
      SetTableFull(*access);
      return false;
    }
    if (!access->absent) access->table->PrefetchTuple(access->offset, access->rank);
  }
  return missing_.empty() || LocateAfar();
}

// Reads the buckets of all tuples at once, one step along each chain per round. A key that is in no
// bucket is inserted by its home, unless its absence suffices.
bool Transaction::LocateAfar() {
  task_.worker().endpoint().SetStage(TrafficStage(Stage::kRead));
  lookups_.resize(missing_.size());
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    lookups_[i].access = missing_[i];
    lookups_[i].at = missing_[i]->table->BucketOf(missing_[i]->key);
  }
  // Keep the requests that are already begun: their replies have not been taken yet.
  const std::size_t first = begun_.empty() ? 0 : frame_->requests_used;
  frame_->requests_used = frame_->requests_sent = first;
  while (!lookups_.empty()) {
    Port port(task_, frame_->pending, near_, engine_.options_.doorbells);
    for (Lookup& lookup : lookups_) {
      const Access& access = *lookup.access;
      // Read the count before the bucket, by its own operation: one operation reads words in any
      // order.
      if (lookup.at == access.table->BucketOf(access.key)) {
        port.Read(access, access.table->ChangesAt(access.key), kWordBytes, &lookup.changes);
      }
      port.Read(access, lookup.at, sizeof(Bucket), &lookup.bucket);
    }
    port.End();
    task_.Await(frame_->pending);
    if (Abandoned()) {
      reason_ = AbortReason::kNodeLost;
      return false;
    }
    std::erase_if(lookups_, [this](Lookup& lookup) { return FoundOrAbsent(lookup); });
  }
  if (frame_->requests_used == first) return true;
  SendRequests(true);
  todo_.clear();
  task_.Await(frame_->pending);
  if (Abandoned()) {
    reason_ = AbortReason::kNodeLost;
    return false;
  }
  TakeReplies(first);
  frame_->requests_used = frame_->requests_sent = first;
  for (const Access* const access : missing_) {
    if (access->offset != 0) continue;
    SetTableFull(*access);
    return false;
  }
  return true;
}

// True: the tuple was found or is absent, or its home was asked to insert it. False: the chain goes
// on.
bool Transaction::FoundOrAbsent(Lookup& lookup) {
  Access& access = *lookup.access;
  for (const Bucket::Slot& slot : lookup.bucket.slots) {
    access.offset = slot.TupleOf(access.key);
    if (access.offset == 0) continue;
    thread_.cache.Insert(access.table->id(), access.key, access.offset);
    return true;
  }
  lookup.at = lookup.bucket.next;
  if (lookup.at != 0) return false;
  const bool suffices =
      engine_.protocol().absence_suffices() && !access.write && !access.write_later;
  if (suffices && lookup.changes % 2 == 0) {
    access.SetAbsent(lookup.changes);
  } else {
    AddToRequest(kLocateRequest, access);
  }
  return true;
}

}  // namespace slimgraph::txn
