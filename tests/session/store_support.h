// Helpers of the checks of stores.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/session/graph_store.h"
#include "tests/support/command.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {

constexpr std::uint64_t kThreads = 4;

inline StoreOptions With(const std::string& protocol) {
  StoreOptions options;
  options.protocol = protocol;
  options.body_threads = 6;
  options.retry.attempts = 10'000;
  return options;
}

inline GraphStore MustOpenStore(Session& session, const std::string& path,
                                const StoreOptions& options) {
  auto store = GraphStore::Open(session, path, options);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

// Runs `work` with a seed of its own on several threads of this node.
inline void OnThreads(
    Session& session, std::uint64_t seed,
    const std::function<void(std::uint64_t thread, std::mt19937_64& random)>& work) {
  std::vector<Thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    const std::uint64_t thread = session.node() * kThreads + i;
    threads.emplace_back([&work, seed, thread] {
      std::mt19937_64 random(seed * 1009 + thread);
      work(thread, random);
    });
  }
  for (Thread& thread : threads) thread.join();
}

inline std::vector<std::byte> AsBytes(std::uint64_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
inline std::uint64_t AsNumber(const std::vector<std::byte>& bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

// Lines of all nodes, each beginning with a time, come together at node 0.
class SharedLines {
 public:
  SharedLines(const Session& session, std::string path)
      : session_(session), path_(std::move(path)) {}
  void Add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_ += line + "\n";
  }
  // Before a collective call, and then after it.
  void Write() const { WriteFile(path_ + std::to_string(session_.node()), lines_); }
  std::vector<std::string> Sorted() const {
    std::vector<std::pair<std::uint64_t, std::string>> all;
    for (NodeId node = 0; node < session_.compute(); ++node) {
      std::istringstream in(ReadFile(path_ + std::to_string(node)));
      std::uint64_t time = 0;
      std::string line;
      while (in >> time && std::getline(in, line)) all.emplace_back(time, line.substr(1));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> lines;
    for (auto& [time, line] : all) lines.push_back(std::move(line));
    return lines;
  }

 private:
  const Session& session_;
  const std::string path_;
  Mutex mutex_;
  std::string lines_;
};

using End = TransactionOutcome::End;

inline Session SessionOf(NodeId nodes, MemorySide side = MemorySide::kServe) {
  SessionOptions options;
  options.nodes = nodes;
  options.memory_node_program = CommandPath();
  options.cache.side = side;
  auto session = Session::Open(options);
  if (!session) throw std::runtime_error(session.error().message);
  return *std::move(session);
}

inline GraphStore StoreOf(Session& session, const std::string& path,
                          const StoreOptions& options = {}) {
  auto store = GraphStore::Open(session, path, options);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

// A path 0 - 1 - … - 9, or of more edges.
inline Status MakePath(Session& session, const std::string& path, const CreateOptions& options = {},
                       std::uint64_t edges = 9) {
  std::vector<std::uint64_t> src, dst;
  for (std::uint64_t v = 0; v < edges; ++v) {
    src.push_back(v);
    dst.push_back(v + 1);
  }
  return GraphStore::Create(session, path, {src, dst, {}, false}, options);
}

inline std::uint64_t EdgesOf(GraphStore& store) {
  auto now = store.Snapshot();
  EXPECT_OK(now);
  return now ? now->edges() : 0;
}

}  // namespace slimgraph::test
