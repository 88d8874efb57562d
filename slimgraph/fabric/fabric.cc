#include "slimgraph/fabric/fabric.h"

#include <charconv>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/internal/make_transport.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

Result<std::unique_ptr<Fabric>> Fabric::Open(Job& job, const FabricOptions& options) {
  std::unique_ptr<Fabric> fabric(new Fabric(job));
  SLIM_ASSIGN(fabric->model_, NetworkModel::Open(job, options.network));
  SLIM_ASSIGN(fabric->transport_, MakeTransport(job, options));
  for (std::uint32_t i = 0; i < options.endpoints; ++i) {
    fabric->endpoints_.push_back(std::make_unique<Endpoint>(*fabric, i));
  }
  fabric->loss_watch_ = job.WatchLoss([raw = fabric.get()](NodeId) {
    for (auto& endpoint : raw->endpoints_) endpoint->Wake();
  });
  SLIM_TRY(job.Exchange(""));
  return fabric;
}

Fabric::~Fabric() {
  loss_watch_ = {};
  endpoints_.clear();
  for (RegionId id = 0; id < num_regions_; ++id) transport_->Free(regions_[id]->memory);
}

NodeId Fabric::self() const { return job_.self(); }
NodeId Fabric::nodes() const { return job_.nodes(); }
bool Fabric::alive(NodeId node) const { return job_.alive(node); }

Result<SharedRegion> Fabric::Share(std::uint64_t bytes, const Place& place) {
  SLIM_CHECK(num_regions_ < kMaxRegions, "more than {} regions", kMaxRegions);
  const RegionId id = num_regions_;
  auto region = std::make_unique<OwnRegion>();
  SLIM_ASSIGN(region->memory, transport_->Allocate(bytes));
  if (place) SLIM_TRY(place({region->memory.base, bytes}));
  SLIM_ASSIGN(const auto sizes, job_.Exchange(fmt::format("{}", bytes)));
  for (const std::string& size : sizes) region->bytes_of_node.push_back(std::stoull(size));
  SLIM_TRY(transport_->Publish(id, region->memory, region->bytes_of_node));
  const SharedRegion shared{id, {region->memory.base, bytes}};
  regions_[id] = std::move(region);
  ++num_regions_;
  // Whoever is through may at once ask a thread of ours to use the region.
  SLIM_TRY(job_.Exchange(""));
  return shared;
}

std::uint64_t Fabric::region_bytes(NodeId node, RegionId region) const {
  const OwnRegion* const shared = FindRegion(region);
  return shared == nullptr ? 0 : shared->bytes_of_node[node];
}

MutableBytes Fabric::own_region(RegionId region) const {
  const RegionMemory& memory = regions_[region]->memory;
  return {memory.base, memory.bytes};
}

Status Fabric::Revoke(RegionId region) {
  OwnRegion* const revoked = FindRegion(region);
  SLIM_CHECK(revoked != nullptr, "region {} was never shared", region);
  revoked->revoked = true;
  return transport_->Revoke(region);
}

void Transport::Clear(const RegionMemory& memory) {
  if (memory.bytes > 0) std::memset(memory.base, 0, memory.bytes);
}

Status Fabric::Fence(NodeId node) { return transport_->Fence(node); }

void Fabric::SetHandler(HandlerId id, Handler handler) {
  if (handlers_.size() <= id) handlers_.resize(id + std::size_t{1});
  handlers_[id] = std::move(handler);
}

Traffic Fabric::traffic() const {
  Traffic sum(nodes());
  for (const auto& endpoint : endpoints_) sum.Add(endpoint->traffic());
  return sum;
}

void Fabric::ClearTraffic() {
  for (auto& endpoint : endpoints_) endpoint->ClearTraffic();
}

Status Fabric::Close() {
  SLIM_TRY(job_.Exchange(""));
  loss_watch_ = {};
  endpoints_.clear();
  return transport_->Close();
}

}  // namespace slimgraph
