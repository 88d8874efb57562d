// What `slimgraph txn run` does on snapshots of its graph while transactions change it.
#pragma once

#include <optional>

#include "apps/txn/txn_job.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/files/list_writer.h"
#include "txnlayer/graph/snapshot.h"

namespace slimgraph {

enum class AnalysisKind {
  kPageRank,
  kBfs,
  kComponents,
  kShortestPaths,
  kLabels,
  kCores,
  kIndependentSet,
  // By D-Kudu:
  kCliques,
  kClustering,
  kTrussness
};

struct Analysis {
  std::string name;
  AnalysisKind kind = AnalysisKind::kPageRank;
  unsigned clique_size = 3;
  std::optional<std::uint64_t> source = {};  // of bfs and sssp; nullopt: the first vertex
  std::uint64_t iterations = 10;             // of cdlp, at most
  std::uint64_t seed = 1;                    // of mis

  bool mines() const { return kind >= AnalysisKind::kCliques; }
  // Whether it reads a directed graph as BothDirections.
  bool IgnoresDirections() const {
    return kind >= AnalysisKind::kLabels && kind <= AnalysisKind::kIndependentSet;
  }
  bool NeedsUndirected() const {
    return kind == AnalysisKind::kCliques || kind == AnalysisKind::kTrussness;
  }
};

// "pagerank,bfs:17,sssp:17,cc,cdlp:5,kcore,mis:7,triangles,cliques:5,lcc,ktruss".
Result<std::vector<Analysis>> ParseAnalytics(std::string_view words);

// Checks --analytics, --export and --updates against the other options.
Status CheckSnapshotOptions(const TxnOptions& options);

// The result of one analysis on one snapshot.
struct Finding {
  std::string name;
  txn::GraphTime time = 0;
  bool in_run = false;
  VertexId vertices = 0;
  std::uint64_t edges = 0;
  double pause_s = 0;   // for how long commits waited for the snapshot
  double gather_s = 0;  // to gather the snapshot's lists
  double load_s = 0;    // to load them into the engine
  double run_s = 0;
  double staleness_s = 0;  // age of the snapshot when the analysis ended
  std::vector<std::pair<std::string, Report::Value>> values;
  std::string words;
};

// Runs `analysis` on a snapshot. Collective over the job's nodes; they form a cluster for it.
Result<Finding> RunAnalysis(Job& job, const ClusterOptions& cluster, const txn::Snapshot& snapshot,
                            const Analysis& analysis);

// Takes snapshots one after the other and analyses each, from the beginning of a run to its end, on
// a thread of its own on every node. When a node dies and the job survives that, the remaining
// nodes restart the snapshot. When a snapshot or an analysis fails on any node, snapshots end on
// all nodes and the run continues.
class Analyst {
 public:
  // Collective. Nothing happens before Start().
  static Result<std::unique_ptr<Analyst>> Make(Cluster& cluster, const TxnOptions& options);
  ~Analyst();

  // Whether the store's graph is suitable for all analyses: undirected for cliques and ktruss,
  // weighted for shortest paths.
  Status Check(const std::string& store, TxnJob& job) const;

  void Start(TxnJob& job);
  // After the run: waits until the current snapshot and the export have ended.
  Status Finish(TxnJob& job);

  void ReportFindings(JobRun& run) const;

 private:
  Analyst(Cluster& cluster, std::vector<Analysis> analytics)
      : cluster_(cluster), analytics_(std::move(analytics)) {}
  Status MakeFile();
  Status AnalyseSnapshots(Job& job, txn::TransactionalGraph& graph);
  // Takes, analyses and exports one snapshot. Returns false if it was the last.
  Result<bool> AnalyseNextSnapshot(txn::SnapshotMemory& room, txn::TransactionalGraph& graph);
  ClusterOptions OptionsFor(const Job& job) const;

  Cluster& cluster_;
  std::vector<Analysis> analytics_;
  bool exports_ = false;
  std::string export_to_;
  std::optional<ListWriter> writer_;  // on node 0 if there is an export
  bool wrote_ = false;
  Thread thread_;
  std::vector<Finding> findings_;
  std::uint64_t broken_off_ = 0;
  std::optional<Error> failure_;  // why snapshots ended
  std::string exported_;          // the line about the export
};

}  // namespace slimgraph
