#include "txnlayer/transaction.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "txnlayer/engine_thread.h"
#include "txnlayer/store/hash.h"

namespace slimgraph::txn {
namespace {

// More accesses than that are found by a hash table.
constexpr std::size_t kMostScanned = 64;
// A commit that nobody waits for keeps its memory; so many of them may be under way.
constexpr std::size_t kMaxFrames = 4;
// How long the wait after an abort may be: 1 us doubled with each try, up to 512 us or so many
// times what the try has taken. Whoever waits less than others take meets them again and again.
constexpr std::uint64_t kBackOffNs = 1'000;
constexpr std::uint64_t kMostBackOffNs = 512'000;
constexpr std::uint64_t kMostBackOffTries = 8;
constexpr std::uint32_t kMostDoublings = 20;
constexpr std::uint32_t kMostSweeps = 3;
// Where a key leaves its mark in a frame.
std::size_t MarkOf(const Table& table, Key key) {
  return (key * 0x9E3779B97F4A7C15 + table.id() * std::uint64_t{0xC2B2AE3D27D4EB4F}) >> 56;
}

constexpr std::uint64_t kLookForWordNs = 200'000;

}  // namespace

Transaction::Transaction(Engine& engine, Task& task, std::uint32_t thread)
    : engine_(engine),
      task_(task),
      thread_(*engine.threads_[thread]),
      self_(engine.self()),
      by_processor_(engine.cluster().fabric().atomics_by_processor()),
      owner_(OwnerOf(engine.self(), thread, task.index())),
      process_(first_process() + std::uint64_t{thread} * engine.options().coroutines +
               task.index()),
      random_(owner_ * 0x9E3779B97F4A7C15 + 1),
      figures_(thread_.figures) {
  frames_.push_back(std::make_unique<Frame>());
  frame_ = frames_.back().get();
}

Transaction::~Transaction() = default;

std::uint64_t Transaction::first_process() const {
  return std::uint64_t{engine_.self()} * engine_.cluster().threads() * engine_.options().coroutines;
}

void Transaction::Begin(bool again, std::uint64_t now_ns) {
  SLIM_CHECK(!open_, "the transaction before has not ended");
  if ((awaits_word() || held_up()) && !task_.worker().failed()) {
    AwaitView();
    now_ns = NowNs();
  }
  TakeFrame();
  if (!again || !engine_.protocol().keeps_timestamp() || timestamp_ == 0) {
    timestamp_ = thread_.clock.Next(owner_, now_ns);
  }
  if (!again) shares_ = true;
  stages_ = engine_.options().stages;
  // Where threads have to agree on the forms, they do so by themselves.
  if (engine_.options().mix_stages && !engine_.protocol().fetches_once()) {
    const std::uint64_t bits = Draw();
    for (std::size_t i = 0; i < kNumStages; ++i) {
      stages_.Set(static_cast<Stage>(i), ((bits >> (20 + i)) & 1) != 0);
    }
  }
  began_ns_ = now_ns;
  reason_ = AbortReason::kNone;
  conflict_ = {};
  begun_.clear();
  open_ = true;
}

// A step of Marsaglia's xorshift.
std::uint64_t Transaction::Draw() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

// The first frame of which nothing is under way; if there is none, the oldest one's end is awaited.
// The one that was used last of those that are idle: its memory is in the processor's caches.
void Transaction::TakeFrame() {
  const auto idle = std::find_if(frames_.rbegin(), frames_.rend(),
                                 [](const auto& frame) { return frame->pending.left == 0; });
  if (idle != frames_.rend()) {
    std::rotate(idle.base() - 1, idle.base(), frames_.end());
  } else if (frames_.size() < kMaxFrames) {
    frames_.push_back(std::make_unique<Frame>());
  } else {
    task_.Await(frames_.front()->pending);
    std::rotate(frames_.begin(), frames_.begin() + 1, frames_.end());
  }
  frame_ = frames_.back().get();
  if (frame_->logged) frame_->logged->installed = true;
  frame_->logged = nullptr;
  frame_->records.clear();
  frame_->pending.lost = false;
  frame_->accesses.clear();
  frame_->upgraded.clear();
  frame_->marks.reset();
  frame_->arrived = 0;
  frame_->index.clear();
}

Access* Transaction::Find(const Table& table, Key key) const {
  const Frame& frame = *frame_;
  if (!frame.marks[MarkOf(table, key)]) return nullptr;
  if (frame.index.empty()) {
    for (Access* const access : frame.accesses) {
      if (access->key == key && access->table == &table) return access;
    }
    return nullptr;
  }
  const std::size_t mask = frame.index.size() - 1;
  for (std::size_t at = Mix(key + table.id()) & mask; frame.index[at] != 0; at = (at + 1) & mask) {
    Access* const access = frame.accesses[frame.index[at] - 1];
    if (access->key == key && access->table == &table) return access;
  }
  return nullptr;
}

// The table has two places for each access at the least; where it has not, it is made anew.
void Transaction::AddToIndex(std::uint32_t number) {
  Frame& frame = *frame_;
  const std::size_t accesses = frame.accesses.size();
  if (frame.index.size() < 2 * accesses) {
    frame.index.assign(8 * std::bit_ceil(accesses), 0);
    for (std::uint32_t i = 0; i < accesses; ++i) AddToIndex(i);
    return;
  }
  const Access& access = *frame.accesses[number];
  const std::size_t mask = frame.index.size() - 1;
  std::size_t at = Mix(access.key + access.table->id()) & mask;
  while (frame.index[at] != 0) at = (at + 1) & mask;
  frame.index[at] = number + 1;
}

Access* Transaction::NewAccess(const Want& want) {
  Frame& frame = *frame_;
  const std::size_t used = frame.accesses.size();
  if (used == frame.places.size()) frame.places.push_back(std::make_unique<Place>());
  Place& place = *frame.places[used];
  const std::uint64_t image_bytes = want.table->image_bytes();
  if (place.image_bytes < image_bytes) {
    place.image = std::make_unique_for_overwrite<std::byte[]>(kWordBytes + image_bytes);
    place.image_bytes = image_bytes;
  }
  Access& access = place.access;
  access.image = place.image.get() + kWordBytes;
  access.table = want.table;
  access.key = want.key;
  const NodeId partition = want.table->Home(want.key);
  access.home = engine_.view().Primary(partition);
  access.rank = engine_.view().RankAt(access.home, partition);
  access.offset = 0;
  access.timestamp = timestamp_;
  access.saw = 0;
  access.write = want.write;
  access.soon = want.soon;
  access.absent = false;
  access.fetch = access.begun = access.has_image = false;
  access.locked = access.shared = access.waiting = false;
  access.step = access.version = 0;
  // Its place is looked up when all that are wanted together have been named.
  if (Remote(access)) {
    thread_.cache.Prefetch(want.table->id(), want.key);
  } else {
    want.table->PrefetchBucket(want.key, access.rank);
  }
  frame.accesses.push_back(&access);
  frame.marks[MarkOf(*want.table, want.key)] = true;
  if (frame.accesses.size() > kMostScanned) AddToIndex(static_cast<std::uint32_t>(used));
  return &access;
}

Access* Transaction::Read(Table& table, Key key) {
  const Want want{&table, key, false};
  Access* access = nullptr;
  return Fetch({&want, 1}, &access) ? access : nullptr;
}

Access* Transaction::Write(Table& table, Key key) {
  const Want want{&table, key, true};
  Access* access = nullptr;
  return Fetch({&want, 1}, &access) ? access : nullptr;
}

bool Transaction::Fetch(std::span<const Want> wants, Access** out) {
  Name(wants, out);
  return Arrive();
}

bool Transaction::Ask(std::span<const Want> wants, Access** out) {
  const std::size_t before = frame_->accesses.size();
  Name(wants, out);
  const EngineOptions& options = engine_.options();
  if (!options.speculation || !options.outstanding) return Arrive();
  const std::span<Access* const> fresh = accesses().subspan(before);
  if (fresh.empty() || engine_.protocol().Ask(*this, fresh)) return true;
  Fail(reason_);
  return false;
}

bool Transaction::Arrive() {
  const std::span<Access* const> fresh = accesses().subspan(frame_->arrived);
  frame_->arrived = frame_->accesses.size();
  bool well = fresh.empty() || engine_.protocol().Fetch(*this, fresh);
  // What was asked for to be read, and then to be written, before it was there.
  for (Access* const access : fresh) {
    if (access->absent && access->write) frame_->upgraded.push_back(access);
  }
  well = well && FetchUpgraded();
  if (!well) Fail(reason_);
  return well;
}

// They get a place, and are read again: what was absent still is, or has been changed.
bool Transaction::FetchUpgraded() {
  std::vector<Access*>& upgraded = frame_->upgraded;
  std::erase_if(upgraded, [](Access* access) {
    const bool done = !std::exchange(access->absent, false);
    if (!done) access->offset = 0;
    return done;
  });
  if (upgraded.empty()) return true;
  if (!engine_.protocol().Fetch(*this, upgraded)) return false;
  for (const Access* const access : upgraded) {
    if (!access->exists()) continue;
    reason_ = AbortReason::kChanged;
    conflict_ = {Stage::kRead, access->table, access->key};
    return false;
  }
  upgraded.clear();
  return true;
}

void Transaction::Name(std::span<const Want> wants, Access** out) {
  SLIM_CHECK(open_, "the transaction has ended");
  for (std::size_t i = 0; i < wants.size(); ++i) {
    Access* access = Find(*wants[i].table, wants[i].key);
    if (access == nullptr) access = NewAccess(wants[i]);
    if (wants[i].write && !access->write && access->absent) frame_->upgraded.push_back(access);
    access->write = access->write || wants[i].write;
    out[i] = access;
  }
}

bool Transaction::Commit() {
  SLIM_CHECK(open_, "the transaction has ended");
  if (!Arrive()) return false;
  if (!engine_.protocol().Prepare(*this)) {
    Fail(reason_);
    return false;
  }
  for (Access* const access : accesses()) {
    if (access->write) access->CountWrite();
  }
  if (!Log()) {
    Fail(AbortReason::kUser);
    return false;
  }
  engine_.protocol().Install(*this);
  if (frame_->logged) frame_->logged->installing = &frame_->pending;
  open_ = false;
  full_ = 0;
  ++figures_.committed;
  return true;
}

void Transaction::Abort(AbortReason reason) { Fail(reason); }

void Transaction::Fail(AbortReason reason) {
  reason_ = reason;
  if (reason != AbortReason::kNodeLost) EndBegun();
  reason = std::exchange(reason_, AbortReason::kNone);  // a node may have died meanwhile
  // When a node has died, all locks are freed together.
  if (reason != AbortReason::kNodeLost) engine_.protocol().Release(*this);
  reason_ = reason;
  open_ = false;
  ++figures_.aborted[static_cast<std::size_t>(reason)];
  // A sweep may make room, once and perhaps again; then there is none.
  if (reason == AbortReason::kTableFull) {
    if (++full_ == kMostSweeps) {
      task_.worker().Fail(TableIsFull());
    } else {
      engine_.WantSweep(thread_);
    }
  }
  if (task_.worker().failed()) engine_.failed_ = true;
}

// That a pause is wanted counts from when the thread knows it, and so tells of it.
bool Transaction::held_up() const {
  return engine_.changing() || thread_.seen_pauses != engine_.pauses_done_ ||
         thread_.seen_sweeps != engine_.sweeps_done_;
}

// An operation may fail before there is word of the death; and a sweep has been asked for.
bool Transaction::awaits_word() const {
  return reason_ == AbortReason::kNodeLost || reason_ == AbortReason::kTableFull;
}

void Transaction::IdleUntil(std::uint64_t ns) {
  for (std::uint64_t now = NowNs(); now < ns; now = NowNs()) {
    if (held_up() && !task_.worker().failed()) {
      AwaitView();
    } else {
      task_.Idle(ns - now);
    }
  }
}

// A node has died, or all shall rest: nothing of this coroutine may be under way meanwhile.
void Transaction::AwaitView() {
  Drain();
  engine_.Settle(task_);
  const std::uint64_t deadline_ns = NowNs() + kWordOfDeathNs;
  while (!held_up() && awaits_word() && NowNs() < deadline_ns) {
    task_.Sleep(kLookForWordNs);
  }
  if (held_up()) {
    while (held_up() && !task_.worker().failed()) task_.Park();
    reason_ = AbortReason::kNone;  // whatever it was, it is in order again
    return;
  }
  task_.worker().Fail({ErrorKind::kEnvironment, "a node that lives cannot be reached"});
  engine_.failed_ = true;
}

void Transaction::BackOff(std::uint32_t tries) {
  const std::uint64_t most = std::max(kMostBackOffNs, kMostBackOffTries * (NowNs() - began_ns_));
  const std::uint64_t wait_ns =
      Draw() % std::min(kBackOffNs << std::min(tries, kMostDoublings), most);
  IdleUntil(NowNs() + wait_ns);  // so that who wants a pause does not wait for it as well
}

void Transaction::Drain() {
  for (const auto& frame : frames_) {
    task_.Await(frame->pending);
    if (frame->logged) frame->logged->installed = true;
    frame->logged = nullptr;
  }
}

std::span<Access* const> Transaction::reads() {
  reads_.clear();
  std::copy_if(frame_->accesses.begin(), frame_->accesses.end(), std::back_inserter(reads_),
               [](const Access* access) { return !access->write; });
  return reads_;
}

std::span<Access* const> Transaction::writes() {
  writes_.clear();
  std::copy_if(frame_->accesses.begin(), frame_->accesses.end(), std::back_inserter(writes_),
               [](const Access* access) { return access->write; });
  return writes_;
}

std::span<Access* const> Transaction::locked() {
  locked_.clear();
  std::copy_if(frame_->accesses.begin(), frame_->accesses.end(), std::back_inserter(locked_),
               [](const Access* access) { return access->locked; });
  return locked_;
}

std::span<Access* const> Transaction::WritesAmong(std::span<Access* const> accesses) {
  among_.clear();
  std::copy_if(accesses.begin(), accesses.end(), std::back_inserter(among_),
               [](const Access* access) { return access->write && !access->locked; });
  return among_;
}

Companion& Transaction::companion() { return *thread_.companion; }

std::vector<Access*>& Transaction::Scratch() {
  scratch_.clear();
  return scratch_;
}

}  // namespace slimgraph::txn
