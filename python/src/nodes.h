// A session as Python sees it. It opens at the first call; after a call that Ctrl-C has ended, it
// opens anew. Calls of several threads run one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/src/await.h"
#include "slimgraph/session/graph.h"
#include "slimgraph/session/session.h"

namespace slimgraph::python {

class Nodes {
 public:
  explicit Nodes(SessionOptions options) : options_(std::move(options)) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes();

  // Runs work(session) by Await(). Cancelling it ends the session.
  template <typename Work>
  auto Call(Work work) {
    return Await(
        [this, &work]() -> std::invoke_result_t<Work, Session&> {
          const std::lock_guard one_call(call_);
          FreeDropped();
          SLIM_TRY(Open());
          auto result = work(*session_);
          EndIfCancelled();
          return result;
        },
        [this] { Cancel(); }, [this] { return Progress(); });
  }
  void Close();

  // Counts the sessions that this object has opened.
  std::uint64_t generation() const { return generation_; }
  // Frees a graph at the next call: graphs of a session are not freed while it is in a call.
  void Drop(Graph graph);

  const SessionOptions& options() const { return options_; }
  bool open() const { return open_; }
  // Whether the call under way is being cancelled.
  bool cancelled() const { return cancelled_; }
  NodeId node() const { return node_; }
  NodeId nodes() const { return nodes_; }
  NodeId compute() const { return compute_; }

 private:
  Status Open();
  void Cancel();
  Share Progress();
  void EndIfCancelled();
  void FreeDropped();

  const SessionOptions options_;
  Mutex call_;   // held during a call
  Mutex state_;  // guards the members below where Cancel() uses them, and dropped_
  std::optional<Session> session_;
  std::atomic<bool> cancelled_{false};
  std::vector<Graph> dropped_;
  std::atomic<bool> open_{false};
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<NodeId> node_{0};
  std::atomic<NodeId> nodes_{0};
  std::atomic<NodeId> compute_{0};
};

// A graph that survives the session in which it was opened: in the next one it is opened again.
class Loaded {
 public:
  Loaded(std::shared_ptr<Nodes> nodes, Graph graph);
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded();

  Nodes& nodes() const { return *nodes_; }
  const Graph& first() const { return first_; }

  // Runs work(graph), in a session.
  template <typename Work>
  auto Call(Work work) {
    return nodes_->Call([&](Session& session) -> std::invoke_result_t<Work, Graph&> {
      SLIM_TRY(OpenIn(session));
      auto result = work(*current_);
      traffic_ = static_cast<std::int64_t>(current_->traffic_bytes().value_or(~std::uint64_t{0}));
      return result;
    });
  }

  // Graph::traffic_bytes() of the last call.
  std::optional<std::uint64_t> traffic_bytes() const {
    const std::int64_t bytes = traffic_;
    return bytes < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(bytes));
  }

  // The original ids in ascending order.
  std::shared_ptr<const std::vector<std::uint64_t>> Ids();

 private:
  // An error if that is impossible, for a snapshot of a store has no file.
  Status OpenIn(Session& session);

  std::shared_ptr<Nodes> nodes_;
  Graph first_;  // keeps a temporary file
  std::optional<Graph> current_;
  std::uint64_t generation_;
  std::atomic<std::int64_t> traffic_{-1};
  std::shared_ptr<const std::vector<std::uint64_t>> ids_;
};

}  // namespace slimgraph::python
