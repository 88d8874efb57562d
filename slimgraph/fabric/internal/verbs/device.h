// Finding an RDMA port that can be used, and opening its device for one thread. Also the owners of
// what libibverbs hands out.
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
  std::uint16_t lid = 0;  // 0: there are none on Ethernet
  ibv_mtu mtu = IBV_MTU_1024;
};

// The active ports of the first device that has some, or of that which SLIMGRAPH_VERBS_DEVICE names
// ("mlx5_0" or "mlx5_0:2"), with the GID and the MTU that fit or that SLIMGRAPH_VERBS_GID_INDEX and
// SLIMGRAPH_VERBS_MTU name. Of one device, for atomics are atomic within a device only. Never
// empty: the error says what stands in the way of each.
Result<std::vector<VerbsPort>> FindVerbsPorts();

// A device that one thread has opened. What belongs to it is destroyed first.
class VerbsDevice {
 public:
  static Result<std::unique_ptr<VerbsDevice>> Open(const VerbsPort& port);

  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  const VerbsPort& port() const { return port_; }
  const ibv_device_attr& limits() const { return limits_; }

  // Registers memory with the device, which keeps it from being paged out. `access`: of
  // ibv_access_flags.
  Result<VerbsMemory> Register(MutableBytes memory, int access) const;
  // The same for a region, whose pages a device that can takes when they are needed.
  Result<VerbsMemory> RegisterRegion(MutableBytes memory) const;

  tl::unexpected<Error> Failure(std::string_view step, int reason) const;

 private:
  VerbsPort port_;
  VerbsContext context_;
  VerbsDomain domain_;
  ibv_device_attr limits_{};
  bool pages_on_demand_ = false;  // for all that is done to regions
};

}  // namespace slimgraph
