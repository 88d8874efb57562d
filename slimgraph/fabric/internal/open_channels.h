// The open channels of a node's endpoints, as other threads reach them; all hear of losses.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "slimgraph/launch/job.h"

namespace slimgraph {

template <typename C>
class OpenChannels {
 public:
  OpenChannels(Job& job, std::uint32_t endpoints)
      : channels_(endpoints), watch_(job.WatchLoss([this](NodeId) { NoteLoss(); })) {}

  // Calls `use` with the endpoint's place, which is null while it is not open. Nobody else has any
  // of them meanwhile.
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

  std::mutex mutex_;
  std::vector<C*> channels_;
  LossWatch watch_;
};

}  // namespace slimgraph
