#include "slimgraph/fabric/fabric.h"

#include <charconv>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/shared_file.h"
#include "slimgraph/fabric/internal/make_transport.h"
#include "slimgraph/fabric/internal/own_regions.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

Fabric::Fabric(Job& job, const FabricOptions& options)
    : job_(job),
      in_place_(options.in_place),
      regions_(std::make_unique<OwnRegions>()),
      handlers_(options.endpoints) {
  // Where all nodes of the pool are on this host, an imitated network lies between them.
  if (in_place_.all() && options.network != "none") in_place_.any = false;
}

Result<std::unique_ptr<Fabric>> Fabric::Open(Job& job, const FabricOptions& options) {
  std::unique_ptr<Fabric> fabric(new Fabric(job, options));
  SLIM_ASSIGN(fabric->model_, NetworkModel::Open(job, options.network));
  fabric->quota_ = BandwidthQuota::Make(job.quota(), job.self(), job.nodes());
  SLIM_ASSIGN(fabric->transport_, MakeTransport(job, options));
  const Quota& quota = job.quota();
  // In place, there is nothing to save.
  const bool reads = fabric->transport() == "tcp" || !options.in_place.all();
  if (!job.host_cache().empty() && !quota.lends(job.self()) && reads) {
    fabric->host_cache_ = HostCache::Connect(job.host_cache(), quota.first_lender);
  }
  const EndpointContext context{.self = job.self(),
                                .nodes = job.nodes(),
                                .endpoints = options.endpoints,
                                .transport = *fabric->transport_,
                                .handlers = fabric->handlers_,
                                .regions = *fabric->regions_,
                                .job = job,
                                .model = fabric->model_.get(),
                                .quota = fabric->quota_.get(),
                                .host_cache = fabric->host_cache_.get()};
  for (std::uint32_t i = 0; i < options.endpoints; ++i) {
    fabric->endpoints_.push_back(std::make_unique<Endpoint>(context, i));
  }
  fabric->loss_watch_ = job.WatchLoss([raw = fabric.get()](NodeId) {
    for (auto& endpoint : raw->endpoints_) endpoint->Wake();
  });
  SLIM_TRY(job.Exchange(""));
  return fabric;
}

Fabric::~Fabric() {
  loss_watch_ = {};
  StopSyncs();
  if (!transport_) return;
  transport_->Stop();
  endpoints_.clear();
  for (RegionId id = 0; id < regions_->count(); ++id) {
    const RegionMemory& memory = regions_->Find(id)->memory;
    if (memory.owned) transport_->Free(memory);
  }
}

NodeId Fabric::self() const { return job_.self(); }
NodeId Fabric::nodes() const { return job_.nodes(); }
bool Fabric::alive(NodeId node) const { return job_.alive(node); }

Result<SharedRegion> Fabric::Share(std::uint64_t bytes, const PlacePages& place_pages) {
  const RegionId id = regions_->count();
  // A region stays registered until the destructor even if sharing it fails: other nodes may use it
  // already.
  OwnRegion& region = regions_->Add();
  SLIM_ASSIGN(region.memory, transport_->Allocate(bytes));
  if (place_pages) SLIM_TRY(place_pages({region.memory.base, bytes}));
  return Publish(id, region);
}

Result<SharedRegion> Fabric::ShareStanding(const SharedMemory* memory, std::size_t number) {
  OwnRegion& region = regions_->Add();
  region.stands = true;
  SLIM_ASSIGN(const SharedRegion shared, ShareExisting(region, memory, /*writable=*/false));
  if (host_cache_) host_cache_->Add(shared.id, number, region.bytes_of_node);
  return shared;
}

Bytes Fabric::InPlace(NodeId node, RegionId region) const {
  const OwnRegion* const shared = regions_->Find(region);
  if (shared == nullptr || !shared->stands) return {};
  const NodeId first_lender = job_.quota().first_lender;
  const bool is_here =
      in_place_.all() || (node >= first_lender && in_place_.Has(node - first_lender));
  return is_here ? transport_->Mapped(node, region) : Bytes();
}

Result<SharedRegion> Fabric::ShareFile(std::shared_ptr<const SharedFile> file, FlushBy flush,
                                       std::function<void(const Error&)> failed) {
  if (file) files_.push_back(file);
  OwnRegion& region = regions_->Add();
  region.flush = flush;
  if (file && flush == FlushBy::kHome) {
    const auto synced = [this] {
      for (auto& endpoint : endpoints_) endpoint->Wake();
    };
    region.sync = std::make_unique<FileSync>(file, synced, std::move(failed));
  }
  return ShareExisting(region, file ? &file->memory() : nullptr, /*writable=*/true);
}

FileSync* Fabric::sync_of(RegionId region) const { return regions_->Find(region)->sync.get(); }

void Fabric::StopSyncs() {
  for (RegionId id = 0; id < regions_->count(); ++id) {
    if (FileSync* const sync = sync_of(id)) sync->Stop();
  }
}

// `region`: the one that was added last.
Result<SharedRegion> Fabric::ShareExisting(OwnRegion& region, const SharedMemory* memory,
                                           bool writable) {
  if (memory != nullptr && memory->bytes() > 0) {
    SLIM_ASSIGN(region.memory, transport_->Adopt(*memory, writable));
  } else {
    SLIM_ASSIGN(region.memory, transport_->Allocate(0));
  }
  return Publish(static_cast<RegionId>(regions_->count() - 1), region);
}

Result<SharedRegion> Fabric::Publish(RegionId id, OwnRegion& region) {
  SLIM_ASSIGN(const auto sizes, job_.Exchange(fmt::format("{}", region.memory.bytes)));
  for (const std::string& size : sizes) region.bytes_of_node.push_back(std::stoull(size));
  SLIM_TRY(transport_->Publish(id, region.memory, region.bytes_of_node));
  // A node that has returned may make another node use this region at once, so all nodes wait here.
  SLIM_TRY(job_.Exchange(""));
  return SharedRegion{id, {region.memory.base, region.memory.bytes}};
}

std::uint64_t Fabric::region_bytes(NodeId node, RegionId region) const {
  const OwnRegion* const shared = regions_->Find(region);
  return shared == nullptr ? 0 : shared->bytes_of_node[node];
}

MutableBytes Fabric::own_region(RegionId region) const {
  const RegionMemory& memory = regions_->Find(region)->memory;
  return {memory.base, memory.bytes};
}

Status Fabric::Revoke(RegionId region) {
  OwnRegion* const revoked = regions_->Find(region);
  SLIM_CHECK(revoked != nullptr, "region {} was never shared", region);
  revoked->revoked = true;
  return transport_->Revoke(region);
}

void Fabric::Clear(RegionId region) { transport_->Clear(regions_->Find(region)->memory); }

Result<RegionMemory> Transport::Adopt(const SharedMemory&, bool writable) {
  if (writable) {
    return UsageError("files of other nodes are written over --transport shm or tcp, not {}",
                      name());
  }
  return UsageError("graphs of a pool are read over --transport shm or tcp, not {}", name());
}

void Transport::Clear(const RegionMemory& memory) {
  if (memory.bytes > 0) std::memset(memory.base, 0, memory.bytes);
}

Status Fabric::Fence(NodeId node) { return transport_->Fence(node); }

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
  // All nodes still serve requests here, so outstanding operations complete.
  for (auto& endpoint : endpoints_) {
    if (endpoint->outstanding() > 0) endpoint->Flush();
  }
  loss_watch_ = {};
  StopSyncs();
  endpoints_.clear();
  return transport_->Close();
}

}  // namespace slimgraph
