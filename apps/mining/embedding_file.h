// The file to which all compute nodes of a job write embeddings, one a line, in original ids. Other
// nodes send their lines to node 0, which writes them. The file appears when it is complete. A
// counter on node 0 enforces a limit: every thread draws permits from it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/output/text_output.h"
#include "dkudu/match.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/cluster/cluster.h"

namespace slimgraph {

class EmbeddingFile {
 public:
  // Collective. The first line names the pattern's vertices; embeddings follow in that order.
  static Result<std::unique_ptr<EmbeddingFile>> Create(Cluster& cluster, const GraphSource& file,
                                                       const dkudu::MiningGraph& graph,
                                                       const dkudu::Pattern& pattern,
                                                       const std::string& path,
                                                       std::optional<std::uint64_t> limit);

  dkudu::EmbeddingSink SinkOf(std::uint32_t thread);

  // Collective: writes the remaining lines and gives the file its name.
  Status Finish();

 private:
  static constexpr HandlerId kLinesHandler = 0x4C53;
  struct Writer {
    std::string text;
    std::uint64_t permits = 0;  // permits drawn and not yet used
    std::uint64_t sent = 0;     // messages
  };
  EmbeddingFile(Cluster& cluster, const dkudu::MiningGraph& graph)
      : cluster_(cluster), graph_(graph) {}
  Result<bool> AddEmbedding(std::uint32_t thread, std::span<const VertexId> embedding);
  Status DrawPermits(std::uint32_t thread);
  Status Write(std::uint32_t thread);
  Status Send(std::uint32_t thread, Bytes lines);
  void Append(Bytes lines);
  Status failure();

  Cluster& cluster_;
  const dkudu::MiningGraph& graph_;
  OriginalIds ids_;
  RegionId counter_ = 0;
  std::optional<std::uint64_t> limit_;
  std::vector<Writer> writers_;  // by thread
  // Used on node 0 alone.
  std::optional<TextOutput> file_;
  std::atomic<std::uint64_t> received_{0};  // messages from other nodes
  Mutex mutex_;
  Status failure_;  // the first failed write
  HandlerRegistration handler_;
};

}  // namespace slimgraph
