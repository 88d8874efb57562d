// The file into which all compute nodes of a job list embeddings, a line each, in original ids. A
// limit is kept by a counter on node 0 that every thread draws from.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dkudu/graph/mining_graph.h"
#include "dkudu/kernel/extender.h"
#include "dkudu/plan/pattern.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/cluster/cluster.h"

namespace slimgraph {

class EmbeddingFile {
 public:
  // Collective. The first line names the pattern's vertices; embeddings follow in that order.
  static Result<std::unique_ptr<EmbeddingFile>> Create(Cluster& cluster, const SlimFile& file,
                                                       const MiningGraph& graph,
                                                       const Pattern& pattern,
                                                       const std::string& path,
                                                       std::optional<std::uint64_t> limit);

  EmbeddingSink SinkOf(std::uint32_t thread);

  // Local: writes what is left.
  Status Finish();

 private:
  struct Writer {
    std::string text;
    std::uint64_t granted = 0;  // embeddings that may still be taken without asking
    bool exhausted = false;
  };
  EmbeddingFile(Cluster& cluster, const MiningGraph& graph) : cluster_(cluster), graph_(graph) {}
  Result<bool> Take(std::uint32_t thread, std::span<const VertexId> embedding);
  Status Draw(std::uint32_t thread);
  Status Write(std::string& text);

  Cluster& cluster_;
  const MiningGraph& graph_;
  OriginalIds ids_;
  std::string path_;
  UniqueFd fd_;
  std::optional<std::uint64_t> limit_;
  RegionId counter_ = 0;
  std::vector<Writer> writers_;  // by thread
};

}  // namespace slimgraph
