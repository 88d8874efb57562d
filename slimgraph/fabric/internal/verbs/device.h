// Finds a usable RDMA port, and opens its device for one thread. Also has owners for libibverbs
// objects.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

template <auto kDestroy>
struct VerbsDeleter {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
using VerbsContext = std::unique_ptr<ibv_context, VerbsDeleter<ibv_close_device>>;
using VerbsDomain = std::unique_ptr<ibv_pd, VerbsDeleter<ibv_dealloc_pd>>;
using VerbsMemory = std::unique_ptr<ibv_mr, VerbsDeleter<ibv_dereg_mr>>;
using VerbsEvents = std::unique_ptr<ibv_comp_channel, VerbsDeleter<ibv_destroy_comp_channel>>;
using VerbsCompletions = std::unique_ptr<ibv_cq, VerbsDeleter<ibv_destroy_cq>>;

struct VerbsPort {
  std::string device;
  std::uint8_t number = 1;
  std::uint8_t gid_index = 0;
  ibv_gid gid{};
  std::uint16_t lid = 0;  // 0 on Ethernet, which has none
  ibv_mtu mtu = IBV_MTU_1024;
};

// The active ports of the first device that has any, or of the one that SLIMGRAPH_VERBS_DEVICE
// names ("mlx5_0" or "mlx5_0:2"). Their GID and MTU are the best ones, or those that
// SLIMGRAPH_VERBS_GID_INDEX and SLIMGRAPH_VERBS_MTU name. All ports are of one device, because
// atomics are atomic within one device only. Never empty: the error says why each port cannot be
// used.
Result<std::vector<VerbsPort>> FindVerbsPorts();

// A device that one thread has opened. Must outlive everything that is made on it.
class VerbsDevice {
 public:
  static Result<std::unique_ptr<VerbsDevice>> Open(const VerbsPort& port);

  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  const VerbsPort& port() const { return port_; }
  const ibv_device_attr& limits() const { return limits_; }

  // Registers memory with the device, which pins its pages. `access` has bits of ibv_access_flags.
  Result<VerbsMemory> Register(MutableBytes memory, int access) const;
  // Registers a region. On-demand paging is used if the device supports it, so pages are not
  // pinned.
  Result<VerbsMemory> RegisterRegion(MutableBytes memory) const;

  tl::unexpected<Error> Failure(std::string_view step, int reason) const;

 private:
  VerbsPort port_;
  VerbsContext context_;
  VerbsDomain domain_;
  ibv_device_attr limits_{};
  bool pages_on_demand_ = false;  // for all operations on regions
};

}  // namespace slimgraph
