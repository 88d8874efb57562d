// The file into which all compute nodes of a job list embeddings, a line each, in original ids. It
// is node 0's, and appears when it is complete; the others send their lines there. A limit is kept
// by a counter on node 0 that every thread draws from.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dkudu/graph/mining_graph.h"
#include "dkudu/kernel/extender.h"
#include "dkudu/plan/pattern.h"
#include "slimgraph/base/atomic_file.h"
#include "slimgraph/cluster/cluster.h"

namespace slimgraph {

class EmbeddingFile {
 public:
  // Collective. The first line names the pattern's vertices; embeddings follow in that order.
  static Result<std::unique_ptr<EmbeddingFile>> Create(Cluster& cluster, const GraphSource& file,
                                                       const MiningGraph& graph,
                                                       const Pattern& pattern,
                                                       const std::string& path,
                                                       std::optional<std::uint64_t> limit);

  EmbeddingSink SinkOf(std::uint32_t thread);

  // Collective: writes what is left and gives the file its name.
  Status Finish();

 private:
  static constexpr HandlerId kLinesHandler = 0x4C53;
  struct Writer {
    std::string text;
    std::uint64_t granted = 0;  // embeddings that may still be taken without asking
    std::uint64_t sent = 0;     // messages
  };
  EmbeddingFile(Cluster& cluster, const MiningGraph& graph) : cluster_(cluster), graph_(graph) {}
  Result<bool> Take(std::uint32_t thread, std::span<const VertexId> embedding);
  Status Draw(std::uint32_t thread);
  Status Write(std::uint32_t thread);
  Status Send(std::uint32_t thread, Bytes lines);
  void Append(Bytes lines);
  Status failure();

  Cluster& cluster_;
  const MiningGraph& graph_;
  OriginalIds ids_;
  RegionId counter_ = 0;
  std::optional<std::uint64_t> limit_;
  std::vector<Writer> writers_;  // by thread
  // Node 0's alone.
  std::optional<AtomicFile> file_;
  std::atomic<std::uint64_t> end_{0};
  std::atomic<std::uint64_t> received_{0};  // messages of others
  std::mutex mutex_;
  Status failure_;  // the first
};

}  // namespace slimgraph
