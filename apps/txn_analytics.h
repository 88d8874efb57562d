// What `slimgraph txn run` does on snapshots of its graph while transactions change it.
#pragma once

#include <optional>
#include <thread>

#include "apps/txn_job.h"
#include "slimgraph/graph/list_writer.h"
#include "txnlayer/graph/snapshot.h"

namespace slimgraph {

enum class AnalysisKind { kPageRank, kBfs, kComponents, kShortestPaths, kCliques };

struct Analysis {
  std::string name;
  AnalysisKind kind = AnalysisKind::kPageRank;
  unsigned clique_size = 3;
  std::optional<std::uint64_t> source = {};  // of bfs and sssp; nothing: the first vertex
};

// "pagerank,bfs:17,sssp:17,cc,triangles,cliques:5".
Result<std::vector<Analysis>> ParseAnalytics(std::string_view words);

// Whether --analytics, --export and --updates go with the other options.
Status CheckSnapshotOptions(const TxnOptions& options);

// What one analysis has found on one snapshot.
struct Finding {
  std::string name;
  txn::GraphTime time = 0;
  bool in_run = false;
  VertexId vertices = 0;
  std::uint64_t edges = 0;
  double pause_s = 0;   // for which no transaction could begin
  double gather_s = 0;  // to bring the snapshot's lists
  double load_s = 0;    // to load them into the engine
  double run_s = 0;
  double staleness_s = 0;  // how old the snapshot was when this was found
  std::vector<std::pair<std::string, Report::Value>> values;
  std::string words;
};

// Runs `analysis` on a snapshot. Collective over the job's nodes, of which it makes a cluster.
Result<Finding> Analyse(Job& job, const ClusterOptions& cluster, const txn::Snapshot& snapshot,
                        const Analysis& analysis);

// Takes one snapshot after the other, on a thread of its own on every node, and analyses each, from
// the beginning of a run to its end. When a node dies that can be done without, those that are left
// begin anew. When it fails by itself on any node, there is an end of it on all, and the run goes
// on.
class Analyst {
 public:
  // Collective. Nothing happens before Start().
  static Result<std::unique_ptr<Analyst>> Make(Cluster& cluster, const TxnOptions& options);
  ~Analyst();

  // Whether what is wanted can be found on that store's graph.
  Status Check(const std::string& store, TxnJob& job) const;

  void Start(TxnJob& job);
  // After the run: waits for the end of what is under way, and of the export.
  Status Finish(TxnJob& job);

  void Describe(Run& run) const;

 private:
  Analyst(Cluster& cluster, std::vector<Analysis> analytics)
      : cluster_(cluster), analytics_(std::move(analytics)) {}
  Status MakeFile();
  Status LookAmong(Job& job, txn::TransactionalGraph& graph);
  // What is done with one snapshot; false: it was the last.
  Result<bool> LookAtOne(txn::SnapshotRoom& room, txn::TransactionalGraph& graph);
  ClusterOptions OptionsFor(const Job& job) const;

  Cluster& cluster_;
  std::vector<Analysis> analytics_;
  bool exports_ = false;
  std::string export_to_;
  std::optional<ListWriter> writer_;  // node 0, where a file is wanted
  bool wrote_ = false;
  std::thread thread_;
  std::vector<Finding> findings_;
  std::uint64_t broken_off_ = 0;
  std::optional<Error> failure_;  // why there are no more
  std::string exported_;          // in words
};

}  // namespace slimgraph
