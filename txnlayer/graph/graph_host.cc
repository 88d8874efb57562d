#include "txnlayer/graph/graph_host.h"

#include <algorithm>
#include <chrono>

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kLeastRoom = 1 << 20;
constexpr std::uint64_t kEdgesPerNewVertex = 8;
// How often a node that has failed looks whether the death of another was the cause, and for how
// long.
constexpr std::chrono::milliseconds kLossPoll{5};
constexpr int kLossPolls = 2000;

std::string WhyOver(const Job& job) {
  if (!job.cancelled()) return "";
  const std::string loss = job.loss();
  return loss.empty() ? "the session was cancelled" : loss;
}

}  // namespace

Result<StoreImage> StoreImage::Read(const std::string& path) {
  SLIM_ASSIGN(const Store store, Store::Open(path, Store::Use::kRead));
  StoreImage image;
  SLIM_ASSIGN(image.base_, store.Image());
  image.shape_ = store.shape();
  image.indexes_ = store.indexes();
  image.subject_ = {std::max<std::uint64_t>(1, image.base_.identity()), store.id(), store.last(),
                    " --store " + path};
  return image;
}

Result<std::unique_ptr<GraphHost>> GraphHost::Start(Job& job, const ClusterOptions& cluster,
                                                    const StoreImage& image,
                                                    const HostOptions& options) {
  std::unique_ptr<GraphHost> host(new GraphHost);
  SLIM_TRY(host->Make(job, cluster, image, options));
  host->graph_->fold_worker()->Start();
  host->thread_ = Thread([raw = host.get()] { raw->Work(); });
  return host;
}

Status GraphHost::Make(Job& job, const ClusterOptions& cluster, const StoreImage& image,
                       const HostOptions& options) {
  SLIM_ASSIGN(protocol_, MakeProtocol(options.protocol, options.concurrency));
  SLIM_ASSIGN(cluster_, Cluster::Start(job, cluster));
  const std::uint32_t threads = cluster_->threads();
  const std::uint32_t coroutines = (options.lanes + threads - 1) / threads;
  SLIM_ASSIGN(engine_, Engine::Make(*cluster_, *protocol_,
                                    {.base_one_sided = true, .coroutines = coroutines}));
  const std::uint64_t edges = image.base_.file() == nullptr ? 0 : image.base_.file()->edges();
  GraphOptions graph;
  graph.shape = image.shape_;
  graph.indexes = image.indexes_;
  graph.fold_share = options.fold_share;
  graph.room_edges = options.room != 0 ? options.room : std::max(kLeastRoom, edges / 2);
  graph.room_vertices = graph.room_edges / kEdgesPerNewVertex + 1;
  SLIM_ASSIGN(graph_, TransactionalGraph::Make(*engine_, image.base_, graph));
  graph_->clock().Saw(image.subject_.store_time);
  called_ = std::vector<std::atomic<bool>>(threads);
  for (std::uint32_t i = 0; i < threads * coroutines && cluster_->computes(); ++i) {
    const std::uint32_t thread = i / coroutines;
    const auto wake = [this, thread] {
      called_[thread] = true;
      cluster_->fabric().endpoint(thread).Wake();
    };
    lanes_.push_back(std::make_unique<Lane>(wake, [&job] { return WhyOver(job); }));
  }
  engine_->HostOutside([this](Worker& worker) {
    if (called_[worker.index()].exchange(false)) worker.WakeIdle();
  });
  SLIM_TRY(engine_->KeepLogs(options.logs, image.subject_, graph_->fold_worker()));
  SLIM_TRY(graph_->RefillIndexes());
  SLIM_TRY(graph_->AdvanceClocks());
  return cluster_->all().Barrier();
}

void GraphHost::Work() {
  ran_ = engine_->Run([this](Transaction& transaction) {
    lanes_[transaction.process() - transaction.first_process()]->Serve(*graph_, transaction);
  });
  if (!ran_) FailLanes(ran_.error());
}

// If the run has failed because of a death, the other nodes' report of it says more.
void GraphHost::FailLanes(const Error& error) {
  Job& job = cluster_->job();
  if (job.nodes() > 1) job.Fail(error);
  for (int i = 0; i < kLossPolls && job.nodes() > 1 && job.loss().empty(); ++i) SleepFor(kLossPoll);
  engine_->EndRuns();
  const std::string loss = job.loss();
  {
    const std::lock_guard lock(failing_);
    failure_ = loss.empty() ? error : Error{ErrorKind::kEnvironment, loss};
  }
  for (const auto& lane : lanes_) lane->Fail(failure_->message);
}

Status GraphHost::CheckRuns() {
  const std::lock_guard lock(failing_);
  if (failure_) return tl::unexpected<Error>(*failure_);
  if (engine_->over(/*now_ns=*/0)) return EnvironmentError("the run of the store is about to fail");
  return {};
}

void GraphHost::GiveUp() {
  if (!stopped_) {
    engine_->FailJob(
        {ErrorKind::kEnvironment, "the store was not closed before its session ended"});
  }
}

Status GraphHost::Stop() {
  stopped_ = true;
  for (const auto& lane : lanes_) lane->Close();
  thread_.join();
  engine_->EndRuns();
  const Status folded = graph_->fold_worker()->Finish();
  SLIM_TRY(CheckRuns());
  SLIM_TRY(ran_);
  SLIM_TRY(folded);
  SLIM_TRY(cluster_->all().Barrier());
  SLIM_TRY(cluster_->Stop());
  graph_.reset();
  engine_.reset();  // completes and closes the logs
  return {};
}

GraphHost::~GraphHost() {
  if (stopped_ || !thread_.joinable()) return;
  GiveUp();
  thread_.join();
  static_cast<void>(graph_->fold_worker()->Finish());
}

}  // namespace slimgraph::txn
