#include "slimgraph/session/graph_store.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "slimgraph/base/folders.h"
#include "slimgraph/session/internal/graph_handle.h"
#include "slimgraph/session/internal/open_store.h"
#include "slimgraph/session/internal/temporary_name.h"
#include "txnlayer/disk/store.h"
#include "txnlayer/protocol/make_protocol.h"

namespace slimgraph {
namespace {

// More would only wait for each other, and each has a stack and a coroutine.
constexpr std::uint32_t kMostBodyThreads = 256;
// The weights of later edges can have any value.
constexpr WeightType kWeightsOfEmptyStore = WeightType::kFloat64;

Status CheckStoreOptions(const StoreOptions& options) {
  txn::ProtocolOptions concurrency;
  if (options.reads_at_a_time) concurrency.timestamps = txn::Timestamps::kDst;
  if (!txn::MakeProtocol(options.protocol, concurrency) && txn::MakeProtocol(options.protocol)) {
    return UsageError(
        "StoreOptions.reads_at_a_time needs nowait, waitdie, boundedwait, occ or mvcc; not {}",
        options.protocol);
  }
  SLIM_TRY(txn::MakeProtocol(options.protocol));
  if (options.body_threads == 0 || options.body_threads > kMostBodyThreads) {
    return UsageError("StoreOptions.body_threads is {}: give 1 to {}", options.body_threads,
                      kMostBodyThreads);
  }
  if (options.retry.attempts == 0) {
    return UsageError("StoreOptions.retry.attempts is 0: the first attempt counts");
  }
  if (options.retry.first_wait.count() < 0 || options.retry.longest_wait.count() < 0) {
    return UsageError("StoreOptions.retry: a wait is negative");
  }
  return {};
}

Status MakeStore(const std::string& path, const EdgeArrays& edges, const CreateOptions& options) {
  txn::GraphShape shape;
  shape.vertex_bytes = options.vertex_bytes;
  shape.edge_bytes = options.edge_bytes;
  std::vector<txn::PropertyIndex> indexes;
  for (const std::string& text : options.indexes) {
    SLIM_ASSIGN(indexes.emplace_back(), txn::PropertyIndex::Parse(text));
  }
  const WeightType of_no_edges = options.weighted ? kWeightsOfEmptyStore : WeightType::kNone;
  if (edges.src.empty() && edges.dst.empty() && edges.vertices.empty()) {
    shape.directed = edges.directed;
    shape.weights = of_no_edges;
    return txn::Store::Create(path, "", shape, indexes);
  }
  const std::string graph = internal::TemporaryName();
  SLIM_TRY(WriteSlimFile(edges, graph, of_no_edges));
  const Status made = txn::Store::Create(path, graph, shape, indexes);
  static_cast<void>(RemoveFile(graph));
  return made;
}

}  // namespace

Status GraphStore::Create(Session& session, const std::string& path, const EdgeArrays& edges,
                          const CreateOptions& options) {
  internal::Nodes& nodes = *session.nodes_;
  const std::string name = "GraphStore::Create(" + path + ")";
  Result<internal::Call> call = internal::Call{.name = name, .task = internal::Task::kNothing};
  if (nodes.self() == 0 && nodes.usable()) {
    const Status made = MakeStore(path, edges, options);
    if (!made) call = tl::unexpected<Error>(made.error());
  }
  SLIM_TRY(nodes.Do(name, std::move(call)));
  return {};
}

Result<GraphStore> GraphStore::Open(Session& session, const std::string& path,
                                    const StoreOptions& options) {
  SLIM_TRY(CheckStoreOptions(options));
  internal::Nodes& nodes = *session.nodes_;
  const std::string name = "GraphStore::Open(" + path + ")";
  internal::StoreRequest request;
  request.cluster = nodes.request();
  std::copy(options.protocol.begin(), options.protocol.end(), request.protocol);
  request.reads_at_a_time = options.reads_at_a_time;
  request.lanes = options.body_threads;
  request.room_edges = options.room_edges;
  internal::Call call{
      .name = name, .task = internal::Task::kOpenStore, .graph = nodes.NewGraph(), .path = path};
  call.SetRequest(request);
  SLIM_ASSIGN(const internal::Call agreed, nodes.Do(name, std::move(call)));
  auto pool = nodes.FindStore(agreed.graph)->StartPool(options);
  return GraphStore(session.nodes_, path, agreed.graph, std::move(pool));
}

GraphStore::GraphStore(std::shared_ptr<internal::Nodes> nodes, std::string path,
                       std::uint64_t number, std::shared_ptr<internal::BodyPool> pool)
    : nodes_(std::move(nodes)), path_(std::move(path)), number_(number), pool_(std::move(pool)) {}
GraphStore::GraphStore(GraphStore&&) noexcept = default;

GraphStore& GraphStore::operator=(GraphStore&& other) noexcept {
  if (this == &other) return *this;
  static_cast<void>(Close());
  nodes_ = std::move(other.nodes_);
  path_ = std::move(other.path_);
  number_ = other.number_;
  pool_ = std::move(other.pool_);
  return *this;
}

GraphStore::~GraphStore() { static_cast<void>(Close()); }

std::future<TransactionOutcome> GraphStore::Submit(std::function<Status(WriteTransaction&)> body) {
  return pool_->Submit(std::move(body), /*only_reads=*/false);
}

std::future<TransactionOutcome> GraphStore::SubmitReadOnly(
    std::function<Status(ReadTransaction&)> body) {
  return pool_->Submit(
      [body = std::move(body)](WriteTransaction& transaction) { return body(transaction); },
      /*only_reads=*/true);
}

Result<Graph> GraphStore::Snapshot() {
  const std::string name = "GraphStore::Snapshot(" + path_ + ")";
  if (nodes_->FindStore(number_) == nullptr && nodes_->usable()) {
    return UsageError("{}: the store is closed", name);
  }
  internal::Call call{.name = name, .task = internal::Task::kSnapshot, .graph = nodes_->NewGraph()};
  call.SetRequest(internal::SnapshotRequest{number_});
  SLIM_ASSIGN(const internal::Call agreed, nodes_->Do(name, std::move(call)));
  return Graph(internal::GraphHandle::Of(nodes_, agreed.graph));
}

Status GraphStore::Close() {
  if (!nodes_) return {};  // it was moved from
  pool_->Drain();
  if (nodes_->closed() || nodes_->FindStore(number_) == nullptr) return {};
  const std::string name = "GraphStore::Close(" + path_ + ")";
  SLIM_TRY(nodes_->Do(
      name, internal::Call{.name = name, .task = internal::Task::kCloseStore, .graph = number_}));
  return {};
}

}  // namespace slimgraph
