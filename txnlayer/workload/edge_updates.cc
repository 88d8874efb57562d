// Transactions that add or change one edge each. The edge joins two vertices chosen uniformly. With
// probability --hot, its first vertex is the one with the most neighbours instead.
#include "txnlayer/workload/internal/graph_workload.h"

namespace slimgraph::txn {
namespace {

constexpr MixEntry kPutEdge[] = {{"put_edge", 100}};

class EdgeClient : public GraphClient {
 public:
  using GraphClient::GraphClient;
  void SetHub(VertexName hub, double share) {
    hub_ = hub;
    share_ = share;
  }

 protected:
  void Prepare(std::size_t, Chooser& chooser) override {
    one_ = Chance(chooser.random(), share_) ? hub_ : chooser.Uniform();
    other_ = chooser.Uniform();
    properties_ = chooser.EdgeProperties();
  }
  Answer Do(std::size_t, GraphTransaction& graph) override {
    return graph.AddEdge(one_, other_, properties_);
  }

 private:
  VertexName hub_ = 0;
  double share_ = 0;
  VertexName one_ = 0;
  VertexName other_ = 0;
  std::vector<std::byte> properties_;
};

class EdgeUpdates : public GraphWorkload {
 public:
  explicit EdgeUpdates(const WorkloadOptions& options)
      : GraphWorkload(options, kPutEdge), share_(std::max(0.0, options.hot)) {}

  std::string_view name() const override { return "edge-updates"; }
  void Configure(const WorkloadOptions& options) override { share_ = std::max(0.0, options.hot); }
  Status Load(Engine& engine) override {
    SLIM_TRY(GraphWorkload::Load(engine));
    const BaseGraph& base = graph()->base();
    EdgeOffset most = 0;
    for (VertexId v = 0; v < base.vertices(); ++v) {
      const EdgeOffset length = base.At(v).length;
      if (length <= most || DirectionOf(graph()->shape(), base.NameOf(v)) == Direction::kIn) {
        continue;
      }
      most = length;
      hub_ = VertexOfSide(graph()->shape(), base.NameOf(v));
    }
    return {};
  }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    auto client = Make<EdgeClient>(transaction);
    static_cast<EdgeClient&>(*client).SetHub(hub_, share_);
    return client;
  }

 private:
  double share_;
  VertexName hub_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeEdgeUpdates(const WorkloadOptions& options) {
  return std::make_unique<EdgeUpdates>(options);
}

}  // namespace slimgraph::txn
