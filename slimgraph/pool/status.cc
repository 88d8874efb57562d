#include "slimgraph/pool/status.h"

#include <charconv>

namespace slimgraph {
namespace {

// Takes words one after the other; once they are used up, `complete` is false.
class WordReader {
 public:
  explicit WordReader(const std::vector<std::string>& words) : words_(words) {}

  std::string Text() {
    if (next_ < words_.size()) return words_[next_++];
    complete_ = false;
    return {};
  }
  template <typename T>
  T Number() {
    const std::string text = Text();
    T value{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) complete_ = false;
    return value;
  }
  bool complete() const { return complete_; }
  bool at_end() const { return next_ == words_.size(); }

 private:
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  bool complete_ = true;
};

}  // namespace

std::vector<std::string> ToWords(const PoolNodeStatus& status) {
  std::vector<std::string> words;
  const auto add = [&](const auto& value) { words.push_back(fmt::format("{}", value)); };
  add(status.process);
  add(status.memory_bytes);
  add(status.used_bytes);
  add(status.up_seconds);
  add(status.processor_seconds);
  add(status.graphs.size());
  for (const KeptGraphStatus& graph : status.graphs) {
    for (const std::string& text :
         {graph.name, graph.view, graph.id, graph.file, graph.shown, graph.facts}) {
      words.push_back(text);
    }
    add(graph.bytes);
    add(graph.ready ? 1 : 0);
  }
  add(status.jobs.size());
  for (const AttachedJobStatus& job : status.jobs) {
    words.push_back(job.graph);
    words.push_back(job.command);
    words.push_back(job.client);
    add(job.compute);
    add(job.resizable ? 1 : 0);
    words.push_back(job.kept);
    add(job.deputy);
    add(job.seconds);
  }
  add(status.caches.size());
  for (const HostCacheStatus& cache : status.caches) {
    for (const std::string& text : {cache.graph, cache.view, cache.agent}) words.push_back(text);
    add(cache.bytes);
  }
  return words;
}

Result<PoolNodeStatus> StatusFromWords(const std::vector<std::string>& words) {
  WordReader reader(words);
  PoolNodeStatus status;
  status.process = reader.Number<pid_t>();
  status.memory_bytes = reader.Number<std::uint64_t>();
  status.used_bytes = reader.Number<std::uint64_t>();
  status.up_seconds = reader.Number<double>();
  status.processor_seconds = reader.Number<double>();
  const auto graphs = reader.Number<std::size_t>();
  for (std::size_t i = 0; i < graphs && reader.complete(); ++i) {
    KeptGraphStatus& graph = status.graphs.emplace_back();
    for (std::string* const text :
         {&graph.name, &graph.view, &graph.id, &graph.file, &graph.shown, &graph.facts}) {
      *text = reader.Text();
    }
    graph.bytes = reader.Number<std::uint64_t>();
    graph.ready = reader.Number<int>() != 0;
  }
  const auto jobs = reader.Number<std::size_t>();
  for (std::size_t i = 0; i < jobs && reader.complete(); ++i) {
    AttachedJobStatus& job = status.jobs.emplace_back();
    job.graph = reader.Text();
    job.command = reader.Text();
    job.client = reader.Text();
    job.compute = reader.Number<NodeId>();
    job.resizable = reader.Number<int>() != 0;
    job.kept = reader.Text();
    job.deputy = reader.Number<pid_t>();
    job.seconds = reader.Number<double>();
  }
  const auto caches = reader.Number<std::size_t>();
  for (std::size_t i = 0; i < caches && reader.complete(); ++i) {
    HostCacheStatus& cache = status.caches.emplace_back();
    for (std::string* const text : {&cache.graph, &cache.view, &cache.agent}) {
      *text = reader.Text();
    }
    cache.bytes = reader.Number<std::uint64_t>();
  }
  if (reader.complete() && reader.at_end()) return status;
  return EnvironmentError("a node of the pool has sent a status that is none");
}

}  // namespace slimgraph
