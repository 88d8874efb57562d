// Takes a transaction's tuples through a stage, in the form that the stage code asks for.
#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/stats/stage.h"
#include "txnlayer/engine_thread.h"
#include "txnlayer/ticks.h"
#include "txnlayer/transaction.h"

namespace slimgraph::txn {
namespace {

// How often a tuple that is locked for a moment is looked at, before the transaction aborts.
constexpr std::uint32_t kLooks = 24;
// Rounds in which the thread only lets others run, before it also waits: 1 us, doubled up to 64.
constexpr std::uint32_t kQuickRounds = 3;
constexpr std::uint32_t kMostWaitDoublings = 6;

// What is decided by then is carried through, as far as there is somebody to do it at.
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

// What operations should have brought is not there then.
bool Transaction::Abandoned() {
  if (task_.worker().failed()) return true;
  return engine_.replication() != nullptr && (frame_->pending.lost || engine_.changing());
}

bool Transaction::Run(Stage stage, std::span<Access* const> accesses) {
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

bool Transaction::Start(Stage stage, std::span<Access* const> accesses) {
  if (!Locate(one_sided(stage), accesses)) return false;
  todo_.assign(accesses.begin(), accesses.end());
  PostRound(stage, true);
  task_.worker().endpoint().Ring();
  for (Access* const access : todo_) access->begun = true;
  begun_.insert(begun_.end(), todo_.begin(), todo_.end());
  begun_stage_ = stage;
  return true;
}

// The transaction aborts before it has waited for what it has begun, of which locks may be left.
void Transaction::EndBegun() {
  if (begun_.empty()) return;
  const std::vector<Access*> begun = begun_;
  RunTogether(begun_stage_, begun);
}

void Transaction::RunLast(Stage stage, std::span<Access* const> accesses) {
  if (!engine_.options_.passive) {
    SLIM_CHECK(Run(stage, accesses) || task_.worker().failed(), "the last stage cannot fail");
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
  engine_.Boundary(stage);
}

bool Transaction::RunTogether(Stage stage, std::span<Access* const> accesses) {
  if (!Locate(one_sided(stage), accesses)) return false;
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
    const Step::Kind in_the_way = Sift(stage);
    if (in_the_way == Step::kBusy && ++looks > kLooks && reason_ == AbortReason::kNone) {
      reason_ = AbortReason::kLocked;
      conflict_ = {stage, next_.front()->table, next_.front()->key};
    }
    if (reason_ != AbortReason::kNone || task_.worker().failed()) well = false;
    if (!well) {
      // What has left a trace at a tuple goes on until that is undone.
      std::erase_if(next_, [](const Access* access) { return !access->waiting; });
      if (task_.worker().failed()) next_.clear();
      for (Access* const access : next_) engine_.protocol().GiveUp(*access);
    }
    todo_.swap(next_);
    if (todo_.empty()) return well;
    if (in_the_way != Step::kDone) Pause(round);
  }
}

// One step for each of todo_, but for what is begun already.
void Transaction::PostRound(Stage stage, bool wait) {
  task_.worker().endpoint().SetStage(TrafficStage(stage));
  Port port(task_, frame_->pending, self_, engine_.options_.doorbells || !wait);
  if (begun_.empty()) frame_->asked_used = frame_->asked_sent = 0;
  const Protocol& protocol = engine_.protocol();
  const bool here_does_it = one_sided(stage);
  if (!here_does_it) steps_.assign(todo_.size(), Step::Done());
  for (Access* const access : todo_) {
    if (access->begun) continue;
    if (here_does_it || !Remote(*access)) {
      protocol.Post(stage, port, *access);
    } else {
      Ask(static_cast<std::uint16_t>(stage), *access);
    }
  }
  port.End();
  if (!here_does_it) SendAsked(wait);
}

// Adds a tuple to the request to its server that is being made; full ones go out.
void Transaction::Ask(std::uint16_t what, Access& access) {
  const EndpointAddress server = engine_.ServerOf(*access.table, access.key);
  const std::size_t bytes = ItemBytes(what, access);
  Asked* asked = nullptr;
  for (std::size_t i = frame_->asked_sent; i < frame_->asked_used && asked == nullptr; ++i) {
    const bool room = (frame_->asked[i].accesses.size() + 1) * bytes < kMaxMessageBytes / 2;
    if (frame_->asked[i].call.to == server && room) asked = &frame_->asked[i];
  }
  if (asked == nullptr) {
    if (frame_->asked_used == frame_->asked.size()) frame_->asked.emplace_back();
    asked = &frame_->asked[frame_->asked_used++];
    asked->call.to = server;
    asked->accesses.clear();
    asked->call.request.resize(sizeof(CallHeader));
    const CallHeader header{.what = what};
    std::memcpy(asked->call.request.data(), &header, sizeof header);
  }
  AppendRequest(what, access, asked->call.request);
  asked->accesses.push_back(&access);
}

void Transaction::SendAsked(bool wait) {
  for (; frame_->asked_sent < frame_->asked_used; ++frame_->asked_sent) {
    Asked& asked = frame_->asked[frame_->asked_sent];
    const auto items = static_cast<std::uint16_t>(asked.accesses.size());
    std::memcpy(asked.call.request.data() + offsetof(CallHeader, items), &items, sizeof items);
    // What has been logged is awaited in the end, if by nobody in particular.
    const bool reply = wait || frame_->logged;
    task_.worker().Send(asked.call, reply ? &frame_->pending : nullptr);
  }
}

// What the homes have answered, as steps of the accesses.
void Transaction::TakeReplies(std::size_t first) {
  for (std::size_t i = first; i < frame_->asked_used; ++i) {
    const Bytes reply(frame_->asked[i].call.reply);
    if (reply.empty()) continue;  // the home has died
    Bytes rest = reply.subspan(sizeof(CallHeader));
    for (Access* const access : frame_->asked[i].accesses) {
      const Step step = TakeReply(rest, *access);
      const auto place = std::find(todo_.begin(), todo_.end(), access);
      if (place != todo_.end()) steps_[static_cast<std::size_t>(place - todo_.begin())] = step;
      if (access->offset != 0 && !access->absent) {
        thread_.cache.Insert(access->table->id(), access->key, access->offset);
      }
    }
  }
}

// Looks at what the round has brought: next_ is what needs another. Returns kBusy or kWait where
// another transaction is in the way.
Step::Kind Transaction::Sift(Stage stage) {
  const Protocol& protocol = engine_.protocol();
  const bool here_does_it = one_sided(stage);
  Step::Kind in_the_way = Step::kDone;
  next_.clear();
  for (std::size_t i = 0; i < todo_.size(); ++i) {
    Access& access = *todo_[i];
    const bool here = here_does_it || !Remote(access);
    const Step step = here ? protocol.Check(stage, access) : steps_[i];
    thread_.clock.Saw(access.saw);
    switch (step.kind) {
      case Step::kDone:
        break;
      case Step::kAbort:
        if (reason_ == AbortReason::kNone) {
          reason_ = step.reason;
          conflict_ = {stage, access.table, access.key};
        }
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

void Transaction::Pause(std::uint32_t round) {
  if (round < kQuickRounds) return task_.Pause();
  task_.Sleep(std::uint64_t{1000} << std::min(round - kQuickRounds, kMostWaitDoublings));
}

// Finds out where the tuples lie. Requests find them by key.
bool Transaction::Locate(bool one_sided, std::span<Access* const> accesses) {
  missing_.clear();
  const bool absence_suffices = engine_.protocol().looks_again();
  for (Access* const access : accesses) {
    if (access->offset != 0) continue;
    if (Remote(*access)) {
      access->offset = thread_.cache.Find(access->table->id(), access->key);
      if (access->offset == 0 && one_sided) missing_.push_back(access);
      continue;
    }
    if (!access->Find(absence_suffices)) {
      access->offset = access->table->FindOrPlace(access->key, access->rank);
    }
    if (access->offset == 0) {
      reason_ = AbortReason::kTableFull;
      return false;
    }
    if (!access->absent) access->table->PrefetchTuple(access->offset, access->rank);
  }
  return missing_.empty() || LocateAfar();
}

// Reads buckets, one after the other along the chain, of all tuples at once. A key that is in none
// is placed by its home, where its absence does not suffice.
bool Transaction::LocateAfar() {
  task_.worker().endpoint().SetStage(TrafficStage(Stage::kRead));
  lookups_.resize(missing_.size());
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    lookups_[i].access = missing_[i];
    lookups_[i].at = missing_[i]->table->BucketOf(missing_[i]->key);
  }
  // Behind what is begun, whose answers are still to be taken in.
  const std::size_t first = begun_.empty() ? 0 : frame_->asked_used;
  frame_->asked_used = frame_->asked_sent = first;
  while (!lookups_.empty()) {
    Port port(task_, frame_->pending, self_, engine_.options_.doorbells);
    for (Lookup& lookup : lookups_) {
      const Access& access = *lookup.access;
      // Before the bucket, whose words are read in any order.
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
  if (frame_->asked_used == first) return true;
  SendAsked(true);
  todo_.clear();
  task_.Await(frame_->pending);
  if (Abandoned()) {
    reason_ = AbortReason::kNodeLost;
    return false;
  }
  TakeReplies(first);
  frame_->asked_used = frame_->asked_sent = first;
  const bool placed = std::all_of(missing_.begin(), missing_.end(),
                                  [](const Access* access) { return access->offset != 0; });
  if (!placed) reason_ = AbortReason::kTableFull;
  return placed;
}

// Or its home is asked for a place; false: the chain goes on.
bool Transaction::FoundOrAbsent(Lookup& lookup) {
  Access& access = *lookup.access;
  for (const Bucket::Slot& slot : lookup.bucket.slots) {
    if (slot.tuple == 0 || slot.key != access.key) continue;
    access.offset = slot.tuple;
    thread_.cache.Insert(access.table->id(), slot.key, slot.tuple);
    return true;
  }
  lookup.at = lookup.bucket.next;
  if (lookup.at != 0) return false;
  const bool suffices = engine_.protocol().looks_again() && !access.write && !access.soon;
  if (suffices && lookup.changes % 2 == 0) {
    access.SetAbsent(lookup.changes);
  } else {
    Ask(kPlaceRequest, access);
  }
  return true;
}

}  // namespace slimgraph::txn
