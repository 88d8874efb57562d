// The open channels of a node's endpoints, for use by other threads. All channels are notified of
// losses.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

template <typename C>
class OpenChannels {
 public:
  OpenChannels(Job& job, std::uint32_t endpoints)
      : channels_(endpoints), watch_(job.WatchLoss([this](NodeId) { NoteLoss(); })) {}

  // Calls `use` with the endpoint's slot, whose pointer is null while the endpoint is not open.
  // Calls are mutually exclusive, also with notifications of losses.
  template <typename Use>
  void At(std::uint32_t endpoint, Use use) {
    const std::lock_guard lock(mutex_);
    use(channels_[endpoint]);
  }
  void Close(std::uint32_t endpoint) {
    At(endpoint, [](C*& channel) { channel = nullptr; });
  }

 private:
  void NoteLoss() {
    const std::lock_guard lock(mutex_);
    for (C* const channel : channels_) {
      if (channel != nullptr) channel->NoteLoss();
    }
  }

  Mutex mutex_;
  std::vector<C*> channels_;
  LossWatch watch_;
};

}  // namespace slimgraph
