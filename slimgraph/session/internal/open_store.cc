#include "slimgraph/session/internal/open_store.h"

#include "slimgraph/base/folders.h"
#include "txnlayer/disk/store.h"
#include "txnlayer/graph/apply_commits.h"

namespace slimgraph::internal {
namespace {

// Collective: nothing if all nodes are well, or else what all of them are told.
Result<Refusal> AllWell(Job& job, const Status& mine) {
  const Status all = AgreeOnStatus(job, mine);
  if (!all && !job.all_alive()) return tl::unexpected<Error>(all.error());
  return all ? Refusal() : Refusal(all.error());
}

// A snapshot and the memory that has it.
struct HeldSnapshot {
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<txn::SnapshotMemory> room;
};

}  // namespace

Result<std::unique_ptr<StoreClaim>> StoreClaim::Take(const std::string& path) {
  std::unique_ptr<StoreClaim> claim(new StoreClaim(path));
  { SLIM_ASSIGN(const txn::Store store, txn::Store::Open(path, txn::Store::Use::kRead)); }
  const std::string folder = path + OpenStore::kFolder;
  SLIM_TRY(MakeFolder(folder));
  SLIM_ASSIGN(auto lock, LockFolder(folder, LockKind::kExclusive));
  if (!lock) {
    return EnvironmentError(
        "{}: a GraphStore has this store open already, in this process or in another: close that "
        "one first",
        path);
  }
  claim->lock_ = std::move(*lock);
  SLIM_TRY(MakeFolder(path + OpenStore::kLogs));
  SLIM_TRY(txn::ApplyCommits({.store = path, .folder = path + OpenStore::kLogs}));
  SLIM_TRY(claim->Share());
  return claim;
}

Status StoreClaim::Share() {
  SLIM_ASSIGN(txn::Store store, txn::Store::Open(path_, txn::Store::Use::kRead));
  // One node makes the image that all nodes then read.
  if (CheckWritable(path_)) SLIM_TRY(store.Image());
  open_ = std::make_unique<txn::Store>(std::move(store));
  return {};
}

Status StoreClaim::WriteBack() {
  open_.reset();
  SLIM_TRY(txn::ApplyCommits({.store = path_, .folder = path_ + OpenStore::kLogs}));
  return {};
}

Result<Refusal> OpenStore::Open(Job& job, const Call& call, std::unique_ptr<OpenStore>& opened) {
  const auto request = call.RequestAs<StoreRequest>();
  std::unique_ptr<OpenStore> store(new OpenStore);
  store->path_ = call.path;
  store->cluster_ = request.cluster;
  Status well;
  if (job.self() == 0) {
    auto claim = StoreClaim::Take(call.path);
    if (claim) store->claim_ = std::move(*claim);
    if (!claim) well = tl::unexpected<Error>(claim.error());
  }
  SLIM_ASSIGN(Refusal refusal, AllWell(job, well));
  if (refusal) return refusal;
  const auto image = txn::StoreImage::Read(call.path);
  SLIM_ASSIGN(refusal, AllWell(job, image ? Status() : Status(tl::unexpect, image.error())));
  if (refusal) return refusal;
  txn::ProtocolOptions concurrency;
  if (request.reads_at_a_time) concurrency.timestamps = txn::Timestamps::kDst;
  SLIM_ASSIGN(store->host_, txn::GraphHost::Start(job, request.cluster.Options(), *image,
                                                  {.store = call.path,
                                                   .logs = call.path + kLogs,
                                                   .protocol = request.protocol,
                                                   .concurrency = concurrency,
                                                   .lanes = request.lanes,
                                                   .room = request.room_edges}));
  opened = std::move(store);
  return Refusal();
}

OpenStore::~OpenStore() {
  if (host_) host_->GiveUp();
  if (pool_) pool_->Drain();
}

std::shared_ptr<BodyPool> OpenStore::StartPool(const StoreOptions& options) {
  pool_ = std::make_shared<BodyPool>(host_->lanes(), options.body_threads, host_->shape(),
                                     options.retry);
  return pool_;
}

Result<Refusal> OpenStore::Snapshot(Job& job, std::unique_ptr<OpenGraph>& graph, bool computes) {
  SLIM_TRY(host_->CheckRuns());
  auto held = std::make_shared<HeldSnapshot>();
  ClusterOptions options = cluster_.Options();
  options.threads = 1;
  SLIM_ASSIGN(held->cluster, Cluster::Start(job, options));
  held->room = std::make_unique<txn::SnapshotMemory>(*held->cluster);
  SLIM_ASSIGN(auto snapshot, host_->TakeSnapshot(*held->room));
  SLIM_TRY(host_->CheckRuns());  // otherwise what it has read is of no use
  OriginalIds ids;
  if (computes) {
    SLIM_ASSIGN(ids, snapshot->ReadOriginalIds());
  }
  const bool empty = snapshot->vertices() == 0;
  graph = OpenGraph::Hold(std::move(snapshot), std::move(ids),
                          [held] { return held->cluster->Stop(); });
  if (!empty) return Refusal();
  SLIM_TRY(graph->Close());
  graph.reset();
  return Refusal(Error{ErrorKind::kInput,
                       path_ + ": the store has no vertices, and a graph needs at least one"});
}

Result<Refusal> OpenStore::Close(Job& job) {
  if (pool_) pool_->Drain();
  SLIM_TRY(host_->Stop());
  host_.reset();
  return AllWell(job, claim_ ? claim_->WriteBack() : Status());
}

Result<Refusal> DoOnStores(Job& job, const Call& call, OpenStores& stores, OpenGraphs& graphs,
                           bool computes) {
  if (call.task == Task::kOpenStore) {
    std::unique_ptr<OpenStore> store;
    SLIM_ASSIGN(const Refusal refusal, OpenStore::Open(job, call, store));
    if (store) stores[call.graph] = std::move(store);
    return refusal;
  }
  if (call.task == Task::kSnapshot) {
    std::unique_ptr<OpenGraph> graph;
    const std::uint64_t store = call.RequestAs<SnapshotRequest>().store;
    SLIM_ASSIGN(const Refusal refusal, stores.at(store)->Snapshot(job, graph, computes));
    if (graph) graphs[call.graph] = std::move(graph);
    return refusal;
  }
  if (call.task == Task::kCloseStore) {
    const auto closing = stores.extract(call.graph);
    return closing.mapped()->Close(job);
  }
  if (call.task != Task::kEnd) return Refusal();
  // What cannot be written back now, the next session does.
  for (const auto& [number, store] : stores) SLIM_TRY(store->Close(job));
  stores.clear();
  return Refusal();
}

}  // namespace slimgraph::internal
