#include "slimgraph/fabric/internal/verbs/device.h"

#include <arpa/inet.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr const char* kDeviceVariable = "SLIMGRAPH_VERBS_DEVICE";
constexpr const char* kGidVariable = "SLIMGRAPH_VERBS_GID_INDEX";
constexpr const char* kMtuVariable = "SLIMGRAPH_VERBS_MTU";

struct DeviceList {
  int count = 0;
  ibv_device** const devices = ::ibv_get_device_list(&count);
  ~DeviceList() {
    if (devices != nullptr) ::ibv_free_device_list(devices);
  }
};

// Nothing if the variable is not set.
Result<std::optional<unsigned>> NumberFrom(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::optional<unsigned>();
  unsigned number = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, failed] = std::from_chars(text, end, number);
  if (failed != std::errc() || rest != end) {
    return UsageError("{}={} is not a number", variable, text);
  }
  return std::optional(number);
}

// Whether the variable names this device or this port ("device" or "device:port"). True if it is
// not set.
bool IsNamed(const std::string& device, unsigned port) {
  const char* const name = std::getenv(kDeviceVariable);
  return name == nullptr || name == device || name == fmt::format("{}:{}", device, port);
}

// Prefers GIDs that can be routed. Over Ethernet, RoCE v2 with an IPv4 address is best; RoCE v1
// cannot be routed at all.
int PreferenceOf(const ibv_gid_entry& entry) {
  in6_addr address;
  std::memcpy(&address, entry.gid.raw, sizeof address);
  if (entry.gid_type == IBV_GID_TYPE_IB) return 0;
  if (entry.gid_type == IBV_GID_TYPE_ROCE_V1) return 3;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return 0;
  return IN6_IS_ADDR_LINKLOCAL(&address) ? 2 : 1;
}

std::optional<ibv_gid_entry> ChooseGid(ibv_context* context, std::uint8_t port, int table_size,
                                       std::optional<unsigned> wanted) {
  std::optional<ibv_gid_entry> best;
  for (int i = 0; i < table_size; ++i) {
    ibv_gid_entry entry{};
    const auto index = static_cast<std::uint32_t>(i);
    if (wanted && *wanted != index) continue;
    if (::ibv_query_gid_ex(context, port, index, &entry, 0) != 0) continue;
    if (!best || PreferenceOf(entry) < PreferenceOf(*best)) best = entry;
  }
  return best;
}

// Fills in `port`. Returns why it cannot be used, or "".
std::string CheckPort(ibv_context* context, std::optional<unsigned> gid_index,
                      std::optional<unsigned> mtu, VerbsPort& port) {
  ibv_port_attr attributes{};
  if (::ibv_query_port(context, port.number, &attributes) != 0) return "cannot be queried";
  if (attributes.state != IBV_PORT_ACTIVE) {
    return fmt::format("is {}", ::ibv_port_state_str(attributes.state));
  }
  const auto gid = ChooseGid(context, port.number, attributes.gid_tbl_len, gid_index);
  if (!gid && gid_index) return fmt::format("has no GID of index {}", *gid_index);
  if (!gid) return "has no GID: its network interface has no address";
  port.gid = gid->gid;
  port.gid_index = static_cast<std::uint8_t>(gid->gid_index);
  port.lid = attributes.link_layer == IBV_LINK_LAYER_ETHERNET ? std::uint16_t{0} : attributes.lid;
  port.mtu = attributes.active_mtu;
  if (!mtu) return "";
  for (const ibv_mtu step : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096}) {
    if (*mtu != 128U << step) continue;
    if (step > attributes.active_mtu) break;
    port.mtu = step;
    return "";
  }
  return fmt::format("has an MTU of {}, and {}={} is not a power of two between 256 and that",
                     128U << attributes.active_mtu, kMtuVariable, *mtu);
}

std::string LockedMemoryAdvice() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format(
      "; at most {} can be locked (ulimit -l), which \"* - memlock unlimited\" in "
      "/etc/security/limits.conf raises",
      FormatBytes(limit.rlim_cur));
}

bool HasPagesOnDemand(ibv_context* context) {
  constexpr std::uint32_t kNeeded =
      IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_ATOMIC;
  ibv_device_attr_ex attributes{};
  return ::ibv_query_device_ex(context, nullptr, &attributes) == 0 &&
         (attributes.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0 &&
         (attributes.odp_caps.per_transport_caps.rc_odp_caps & kNeeded) == kNeeded;
}

}  // namespace

Result<std::vector<VerbsPort>> FindVerbsPorts() {
  SLIM_ASSIGN(const auto gid_index, NumberFrom(kGidVariable));
  SLIM_ASSIGN(const auto mtu, NumberFrom(kMtuVariable));
  const DeviceList list;
  std::vector<VerbsPort> ports;
  std::string obstacles;
  for (int i = 0; i < list.count; ++i) {
    const std::string name = ::ibv_get_device_name(list.devices[i]);
    const VerbsContext context(::ibv_open_device(list.devices[i]));
    ibv_device_attr limits{};
    if (!context || ::ibv_query_device(context.get(), &limits) != 0) {
      obstacles += fmt::format("; {} cannot be opened: {}", name, std::strerror(errno));
      continue;
    }
    for (unsigned number = 1; number <= limits.phys_port_cnt; ++number) {
      if (!IsNamed(name, number)) continue;
      VerbsPort port{.device = name, .number = static_cast<std::uint8_t>(number)};
      const std::string obstacle = CheckPort(context.get(), gid_index, mtu, port);
      if (obstacle.empty()) {
        ports.push_back(port);
      } else {
        obstacles += fmt::format("; port {} of {} {}", number, name, obstacle);
      }
    }
  }
  if (!ports.empty()) {
    const auto first =
        *std::min_element(ports.begin(), ports.end(), [](const VerbsPort& x, const VerbsPort& y) {
          return std::pair(x.device, x.number) < std::pair(y.device, y.number);
        });
    std::erase_if(ports, [&](const VerbsPort& port) {
      return port.device != first.device || (port.lid == 0) != (first.lid == 0);
    });
    return ports;
  }
  if (list.count == 0) {
    return EnvironmentError("--transport verbs: this machine has no RDMA device; use tcp");
  }
  if (obstacles.empty()) {
    return UsageError("{}={} names no RDMA device of this machine", kDeviceVariable,
                      std::getenv(kDeviceVariable));
  }
  return EnvironmentError("--transport verbs: no RDMA port can be used{}", obstacles);
}

Result<std::unique_ptr<VerbsDevice>> VerbsDevice::Open(const VerbsPort& port) {
  auto device = std::make_unique<VerbsDevice>();
  device->port_ = port;
  const DeviceList list;
  for (int i = 0; i < list.count; ++i) {
    if (port.device != ::ibv_get_device_name(list.devices[i])) continue;
    device->context_.reset(::ibv_open_device(list.devices[i]));
  }
  if (!device->context_) {
    return EnvironmentError("cannot open {}: {}", port.device, std::strerror(errno));
  }
  device->domain_.reset(::ibv_alloc_pd(device->context()));
  if (!device->domain_ || ::ibv_query_device(device->context(), &device->limits_) != 0) {
    return EnvironmentError("cannot use {}: {}", port.device, std::strerror(errno));
  }
  if (device->limits_.atomic_cap == IBV_ATOMIC_NONE) {
    return EnvironmentError("{} has no atomic operations", port.device);
  }
  device->pages_on_demand_ = HasPagesOnDemand(device->context());
  return device;
}

Result<VerbsMemory> VerbsDevice::RegisterRegion(MutableBytes memory) const {
  constexpr int kServedAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                                IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if (pages_on_demand_) {
    if (auto registered = Register(memory, kServedAccess | IBV_ACCESS_ON_DEMAND)) return registered;
  }
  return Register(memory, kServedAccess);
}

Result<VerbsMemory> VerbsDevice::Register(MutableBytes memory, int access) const {
  const auto flags = static_cast<unsigned>(access);
  VerbsMemory registered(::ibv_reg_mr(domain(), memory.data(), memory.size(), flags));
  if (registered) return registered;
  const int reason = errno;
  return EnvironmentError("cannot register {} with {}: {}{}", FormatBytes(memory.size()),
                          port_.device, std::strerror(reason), LockedMemoryAdvice());
}

tl::unexpected<Error> VerbsDevice::Failure(std::string_view step, int reason) const {
  return EnvironmentError("cannot {} of {}: {}", step, port_.device, std::strerror(reason));
}

}  // namespace slimgraph
