#include "apps/mining/embedding_file.h"

#include <algorithm>

namespace slimgraph {
namespace {

constexpr std::size_t kBlockBytes = kMaxMessageBytes;
constexpr std::size_t kMaxLineBytes = dkudu::kMaxPatternVertices * 21;  // 64-bit ids
constexpr std::uint64_t kMostPermits = 1024;                            // most embeddings per draw
constexpr auto kCheckInterval = std::chrono::milliseconds(100);

}  // namespace

Result<std::unique_ptr<EmbeddingFile>> EmbeddingFile::Create(
    Cluster& cluster, const GraphSource& file, const dkudu::MiningGraph& graph,
    const dkudu::Pattern& pattern, const std::string& path, std::optional<std::uint64_t> limit) {
  std::unique_ptr<EmbeddingFile> out(new EmbeddingFile(cluster, graph));
  out->limit_ = limit;
  out->writers_.resize(cluster.threads());
  SLIM_ASSIGN(const SharedRegion counter, cluster.fabric().Share(sizeof(std::uint64_t)));
  out->counter_ = counter.id;
  EmbeddingFile& mine = *out;
  if (cluster.self() == 0) {
    SLIM_ASSIGN(TextOutput made, TextOutput::Create(path));
    out->file_.emplace(std::move(made));
    std::string header = "#";
    for (unsigned v = 0; v < pattern.size(); ++v) header += fmt::format(" {}", pattern.id(v));
    header += '\n';
    out->Append(std::as_bytes(std::span(header)));
  }
  out->handler_ =
      cluster.fabric().SetHandler(kLinesHandler, [&mine](Endpoint&, const Message& message) {
        mine.Append(message.body);
        ++mine.received_;
      });
  if (cluster.computes()) {
    SLIM_ASSIGN(out->ids_, file.ReadOriginalIds());
  }
  SLIM_TRY(cluster.all().Barrier());
  return out;
}

dkudu::EmbeddingSink EmbeddingFile::SinkOf(std::uint32_t thread) {
  return [this, thread](std::span<const VertexId> embedding) {
    return AddEmbedding(thread, embedding);
  };
}

Result<bool> EmbeddingFile::AddEmbedding(std::uint32_t thread,
                                         std::span<const VertexId> embedding) {
  Writer& writer = writers_[thread];
  if (limit_) {
    if (writer.permits == 0) SLIM_TRY(DrawPermits(thread));
    if (writer.permits == 0) return false;
    --writer.permits;
  }
  if (writer.text.size() + kMaxLineBytes > kBlockBytes) SLIM_TRY(Write(thread));
  for (std::size_t i = 0; i < embedding.size(); ++i) {
    if (i > 0) writer.text += ' ';
    const fmt::format_int number(ids_[graph_.dense(embedding[i])]);
    writer.text.append(number.data(), number.size());
  }
  writer.text += '\n';
  return true;
}

Status EmbeddingFile::DrawPermits(std::uint32_t thread) {
  Endpoint& endpoint = cluster_.fabric().endpoint(thread);
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      *limit_ / (4 * cluster_.topology().compute() * cluster_.threads()), 1, kMostPermits);
  std::uint64_t drawn = 0;
  endpoint.FetchAdd(0, counter_, 0, wanted, &drawn);
  const Outcome outcome = endpoint.Flush();
  if (outcome != Outcome::kOk) {
    return EnvironmentError("cannot reach node 0's counter: {}", OutcomeName(outcome));
  }
  if (drawn < *limit_) writers_[thread].permits = std::min(wanted, *limit_ - drawn);
  return {};
}

// Writes whole lines only, so that lines of different threads do not mix.
Status EmbeddingFile::Write(std::uint32_t thread) {
  std::string& text = writers_[thread].text;
  const Bytes lines = std::as_bytes(std::span(text));
  if (!lines.empty() && cluster_.self() != 0) SLIM_TRY(Send(thread, lines));
  if (!lines.empty() && cluster_.self() == 0) {
    Append(lines);
    SLIM_TRY(failure());
  }
  text.clear();
  return {};
}

// Sends lines to the serving thread of node 0, and waits until that thread has accepted them (flow
// control).
Status EmbeddingFile::Send(std::uint32_t thread, Bytes lines) {
  Endpoint& endpoint = cluster_.fabric().endpoint(thread);
  endpoint.Send({0, cluster_.threads()}, kLinesHandler, lines);
  ++writers_[thread].sent;
  while (!endpoint.WaitUntil([&] { return endpoint.all_sent(); }, kCheckInterval)) {
    if (!cluster_.job().alive(0))
      return EnvironmentError("node 0, which writes the list, was lost");
  }
  return {};
}

void EmbeddingFile::Append(Bytes lines) {
  const Status written = file_->Append({reinterpret_cast<const char*>(lines.data()), lines.size()});
  if (written) return;
  const std::lock_guard lock(mutex_);
  if (failure_) failure_ = written;
}

Status EmbeddingFile::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status EmbeddingFile::Finish() {
  std::uint64_t sent = 0;
  for (std::uint32_t thread = 0; thread < writers_.size(); ++thread) {
    SLIM_TRY(Write(thread));
    sent += writers_[thread].sent;
  }
  SLIM_ASSIGN(const std::uint64_t sent_by_all, cluster_.all().AllSum(sent));
  if (cluster_.self() == 0) {
    const auto all_here = [&] { return received_ == sent_by_all; };
    while (!cluster_.fabric().endpoint(0).WaitUntil(all_here, std::chrono::milliseconds(1))) {
    }
    SLIM_TRY(failure());
    SLIM_TRY(file_->Commit());
  }
  return cluster_.all().Barrier();
}

}  // namespace slimgraph
