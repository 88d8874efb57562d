// The source of timestamps (tuple_header.h has their bits). Each thread has a clock that increases
// with every timestamp it gives. A larger timestamp that the thread sees advances the clock.
//
// With read timestamps, what threads see and tell are times instead, which are no later than their
// clocks show. A thread that gives more than a timestamp in each microsecond runs ahead, but its
// times do not: the low bits of a time count the commits of a microsecond.
#pragma once

#include <algorithm>

#include "slimgraph/base/clock.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

// Belongs to one thread.
class TimestampSource {
 public:
  // From here on, Latest() and AdvancePast() are about times.
  void UseTimes() { timed_ = true; }

  // A new timestamp for the time `now_ns` of NowNs(), or a little later.
  Timestamp NextTimestamp(Owner owner, std::uint64_t now_ns = NowNs()) {
    clock_ = std::max(clock_ + 1, ClockAt(now_ns));
    return TimestampOf(clock_, owner);
  }
  // Whether a transaction with that timestamp is so old that its age can no longer be compared.
  bool IsTooOld(Timestamp timestamp, std::uint64_t now_ns) const {
    const std::uint64_t now = std::max(clock_, ClockAt(now_ns));
    return now - std::min(now, ClockOf(timestamp)) > kMostAgeUs;
  }
  // At least as large as every timestamp, or time, that this source has given or seen.
  Timestamp Latest() const { return timed_ ? time_ : TimestampOf(clock_, 0); }
  void AdvancePast(Timestamp timestamp) {
    if (timed_) {
      time_ = std::max(time_, timestamp);
    } else {
      clock_ = std::max(clock_, ClockOf(timestamp));
    }
  }

  // The time now, which is not before any that was given or seen.
  Timestamp TimeAt(std::uint64_t now_ns) {
    return time_ = std::max(time_, TimestampOf(ClockAt(now_ns), 0));
  }
  // What a clock shows that has never been advanced. SetTo() moves it forwards.
  std::uint64_t ClockAt(std::uint64_t now_ns) const {
    return kFirstClock + ahead_ + (std::max(now_ns, start_ns_) - start_ns_) / 1000;
  }
  void SetTo(std::uint64_t clock, std::uint64_t now_ns) {
    ahead_ += std::max(clock, ClockAt(now_ns)) - ClockAt(now_ns);
  }

 private:
  std::uint64_t start_ns_ = NowNs();
  std::uint64_t ahead_ = 0;
  std::uint64_t clock_ = kFirstClock;
  bool timed_ = false;
  Timestamp time_ = 0;
};

}  // namespace slimgraph::txn
