// The common part of workloads on a store: its graph in memory, the choice of vertices and edges,
// and the verification. Every edge must be on both sides or on none, and the numbers of vertices
// and edges must be those that the commits have made.
#pragma once

#include <algorithm>

#include "txnlayer/graph/graph_transaction.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {

// An operation's name, its share of all operations in percent, and whether it writes nothing.
struct MixEntry {
  const char* name;
  double percent;
  bool only_reads = false;
};

// Chooses the vertices and edges of a client's operations.
class Chooser {
 public:
  Chooser(TransactionalGraph& graph, Transaction& transaction, std::uint64_t seed,
          std::uint64_t processes);

  Random& random() { return random_; }
  // A vertex of the base, with a probability proportional to its degree, or uniformly.
  VertexName ByDegree();
  VertexName Uniform();
  // The base's vertex with that number, modulo the number of vertices.
  VertexName Of(std::uint64_t number) const;
  // An edge of the base.
  std::pair<VertexName, VertexName> Edge();
  // A name that no vertex has had.
  VertexName Fresh();
  std::vector<std::byte> Properties(std::uint32_t bytes);
  // An edge's properties. A weight among them is a whole number from 1 to 255.
  std::vector<std::byte> EdgeProperties();
  // An index in the mix, whose percents need not sum up to 100.
  std::size_t Pick(std::span<const MixEntry> mix);

 private:
  TransactionalGraph& graph_;
  BaseReader base_;
  Random random_;
  VertexName next_fresh_;
  std::uint64_t processes_;
};

class GraphClient : public Client {
 public:
  GraphClient(TransactionalGraph& graph, Transaction& transaction, std::span<const MixEntry> mix,
              std::uint64_t seed, std::uint64_t processes);

  void Choose() final;
  bool only_reads() const final { return mix_[kind_].only_reads; }
  Attempt Try(Transaction& transaction) final;

  std::int64_t vertex_change() const { return vertex_change_; }
  std::int64_t edge_change() const { return edge_change_; }
  const std::vector<std::uint64_t>& journal() const { return work_.journal(); }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

 protected:
  // Chooses the arguments of the next transaction of that kind.
  virtual void Prepare(std::size_t kind, Chooser& chooser) = 0;
  // Executes it. kNo: what was looked for does not exist, which is a valid answer.
  virtual Answer Do(std::size_t kind, GraphTransaction& graph) = 0;
  const GraphShape& shape() const { return graph_.shape(); }

 private:
  TransactionalGraph& graph_;
  GraphTransaction work_;
  Chooser chooser_;
  std::span<const MixEntry> mix_;
  std::size_t kind_ = 0;
  bool again_ = false;
  std::int64_t vertex_change_ = 0;
  std::int64_t edge_change_ = 0;
  std::vector<std::uint64_t> counts_;  // committed transactions, by kind
};

class GraphWorkload : public Workload {
 public:
  GraphWorkload(const WorkloadOptions& options, std::span<const MixEntry> mix)
      : options_(options), mix_(mix), counts_(mix.size()) {}

  void Configure(const WorkloadOptions&) override {}
  Status Load(Engine& engine) override;
  LogSubject Source() const override { return source_; }
  Status Resume(Engine& engine, std::uint64_t run) override;
  void Collect(Client& client) override;
  Status Verify(Engine& engine) override;
  std::vector<std::pair<std::string, std::uint64_t>> Counts() const override;
  TransactionalGraph* graph() override { return graph_.get(); }
  std::span<const std::uint64_t> updates() const override { return updates_; }
  std::vector<std::pair<std::string, std::uint64_t>> Memory() const override { return memory_; }

 protected:
  template <typename Made>
  std::unique_ptr<Client> Make(Transaction& transaction) {
    return std::make_unique<Made>(*graph_, transaction, mix_,
                                  options_.seed * 1'000'003 + transaction.process(), processes_);
  }

 private:
  Status MeasureMemory(Engine& engine);

  WorkloadOptions options_;
  std::span<const MixEntry> mix_;
  std::uint64_t processes_ = 1;
  std::unique_ptr<TransactionalGraph> graph_;
  LogSubject source_;
  TransactionalGraph::Census before_;  // before the run
  std::int64_t vertex_change_ = 0;
  std::int64_t edge_change_ = 0;
  std::vector<std::uint64_t> updates_;
  std::vector<std::uint64_t> counts_;      // of this node
  std::vector<std::uint64_t> all_counts_;  // of all nodes
  std::vector<std::pair<std::string, std::uint64_t>> memory_;
};

}  // namespace slimgraph::txn
