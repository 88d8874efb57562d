// What the service thread delivers to one endpoint: results of parts, and messages. The endpoint's
// thread takes them, and sleeps on the mailbox.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "slimgraph/base/futex.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/mpi/frames.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class MpiMailbox {
 public:
  struct Mail {
    std::vector<Channel::PartResult> ended;
    std::vector<MpiFrames::Arrived> frames;
  };

  void Deliver(std::vector<Channel::PartResult>& ended) {
    {
      std::lock_guard lock(mutex_);
      mail_.ended.insert(mail_.ended.end(), ended.begin(), ended.end());
      has_mail_ = true;
    }
    ended.clear();
    Wake();
  }

  void Deliver(MpiFrames::Arrived frame) {
    {
      std::lock_guard lock(mutex_);
      mail_.frames.push_back(std::move(frame));
      has_mail_ = true;
    }
    Wake();
  }

  // Swaps the empty `mail` with the contents. Returns false if there are none.
  bool Take(Mail& mail) {
    seen_ = rung_;
    if (!has_mail_.load(std::memory_order_relaxed)) return false;
    std::lock_guard lock(mutex_);
    std::swap(mail_, mail);
    has_mail_ = false;
    return true;
  }

  // Returns at once if there was mail or a Wake() since the last Take().
  void Sleep(std::chrono::nanoseconds limit) {
    asleep_ = true;
    if (!has_mail_) FutexWait(rung_, seen_, static_cast<std::uint64_t>(limit.count()));
    asleep_ = false;
  }

  void Wake() {
    ++rung_;
    if (asleep_) FutexWakeAll(rung_);
  }

 private:
  Mutex mutex_;
  Mail mail_;  // guarded by mutex_
  std::atomic<bool> has_mail_ = false;
  Atomic<std::uint32_t> rung_ = 0;
  std::atomic<bool> asleep_ = false;
  std::uint32_t seen_ = 0;  // used by the endpoint's thread only
};

}  // namespace slimgraph
