#include "slimgraph/fabric/internal/verbs/mail_port.h"

#include <algorithm>
#include <utility>

namespace slimgraph {

Result<std::unique_ptr<VerbsMailPort>> VerbsMailPort::Make(const VerbsDevice& device,
                                                           ibv_comp_channel* events) {
  SLIM_ASSIGN(auto datagrams, VerbsDatagrams::Make(device, events));
  return std::unique_ptr<VerbsMailPort>(new VerbsMailPort(device, std::move(datagrams)));
}

void VerbsMailPort::Start(std::uint32_t endpoints, std::span<const VerbsMailAddress> addresses) {
  endpoints_ = endpoints;
  addresses_ = addresses;
  routes_.resize(addresses.size());
}

Result<std::unique_ptr<SendRing>> VerbsMailPort::MakeRing(std::uint64_t bytes) {
  return VerbsRing::Make(device_, bytes);
}

// Returns 0 as well when there is no route. An injected fault may drop the datagram here; it then
// counts as one that was sent before.
std::uint64_t VerbsMailPort::Send(EndpointAddress to, Bytes bytes, const SendRing* ring) {
  if (DrawLoss()) return std::max<std::uint64_t>(datagrams_->posted(), 1);
  const std::size_t index = IndexOf(to);
  if (!routes_[index]) routes_[index] = datagrams_->RouteTo(addresses_[index]);
  if (!routes_[index]) return 0;
  const std::uint32_t key = ring == nullptr ? 0 : static_cast<const VerbsRing*>(ring)->key();
  return datagrams_->Send(routes_[index].get(), addresses_[index], bytes, key);
}

}  // namespace slimgraph
