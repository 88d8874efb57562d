#include "apps/embedding_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace slimgraph {
namespace {

constexpr std::size_t kBlockBytes = 1 << 18;
constexpr std::uint64_t kDraw = 1024;  // embeddings at a time

}  // namespace

Result<std::unique_ptr<EmbeddingFile>> EmbeddingFile::Create(Cluster& cluster, const SlimFile& file,
                                                             const MiningGraph& graph,
                                                             const Pattern& pattern,
                                                             const std::string& path,
                                                             std::optional<std::uint64_t> limit) {
  std::unique_ptr<EmbeddingFile> out(new EmbeddingFile(cluster, graph));
  out->path_ = path;
  out->limit_ = limit;
  out->writers_.resize(cluster.threads());
  SLIM_ASSIGN(const SharedRegion counter, cluster.fabric().Share(sizeof(std::uint64_t)));
  out->counter_ = counter.id;
  const auto open_file = [&](int flags) -> Status {
    out->fd_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666));
    if (out->fd_.get() < 0) {
      return EnvironmentError("cannot write {}: {}", path, std::strerror(errno));
    }
    return {};
  };
  if (cluster.self() == 0) {
    SLIM_TRY(open_file(O_CREAT | O_TRUNC));
    std::string header = "#";
    for (unsigned v = 0; v < pattern.size(); ++v) header += fmt::format(" {}", pattern.id(v));
    header += '\n';
    SLIM_TRY(out->Write(header));
  }
  SLIM_TRY(cluster.all().Barrier());
  if (cluster.computes()) {
    if (cluster.self() != 0) SLIM_TRY(open_file(0));
    SLIM_ASSIGN(out->ids_, file.ReadOriginalIds());
  }
  return out;
}

EmbeddingSink EmbeddingFile::SinkOf(std::uint32_t thread) {
  return [this, thread](std::span<const VertexId> embedding) { return Take(thread, embedding); };
}

Result<bool> EmbeddingFile::Take(std::uint32_t thread, std::span<const VertexId> embedding) {
  Writer& writer = writers_[thread];
  if (limit_) {
    if (writer.granted == 0) SLIM_TRY(Draw(thread));
    if (writer.granted == 0) return false;
    --writer.granted;
  }
  for (std::size_t i = 0; i < embedding.size(); ++i) {
    if (i > 0) writer.text += ' ';
    const fmt::format_int number(ids_[graph_.dense(embedding[i])]);
    writer.text.append(number.data(), number.size());
  }
  writer.text += '\n';
  if (writer.text.size() >= kBlockBytes) SLIM_TRY(Write(writer.text));
  return true;
}

Status EmbeddingFile::Draw(std::uint32_t thread) {
  Endpoint& endpoint = cluster_.fabric().endpoint(thread);
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      *limit_ / (4 * cluster_.topology().compute() * cluster_.threads()), 1, kDraw);
  std::uint64_t drawn = 0;
  endpoint.FetchAdd(0, counter_, 0, wanted, &drawn);
  const Outcome outcome = endpoint.Flush();
  if (outcome != Outcome::kOk) {
    return EnvironmentError("cannot reach node 0's counter: {}", OutcomeName(outcome));
  }
  if (drawn < *limit_) writers_[thread].granted = std::min(wanted, *limit_ - drawn);
  return {};
}

// Whole lines, at the end of the file wherever that has come to: nodes do not tear each other's.
Status EmbeddingFile::Write(std::string& text) {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(fd_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return EnvironmentError("cannot write {}: {}", path_, std::strerror(errno));
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  text.clear();
  return {};
}

Status EmbeddingFile::Finish() {
  for (Writer& writer : writers_) SLIM_TRY(Write(writer.text));
  return {};
}

}  // namespace slimgraph
