#include "python/src/nodes.h"

namespace slimgraph::python {

Nodes::~Nodes() {
  const nanobind::gil_scoped_release release;
  session_.reset();
}

Status Nodes::Open() {
  const std::lock_guard lock(state_);
  if (closed_) return UsageError("the session is closed");
  if (session_) return {};
  SLIM_ASSIGN(session_, Session::Open(options_));
  ++generation_;
  node_ = session_->node();
  nodes_ = session_->nodes();
  compute_ = session_->compute();
  open_ = true;
  return {};
}

void Nodes::Cancel() {
  const std::lock_guard lock(state_);
  cancelled_ = true;
  if (session_) session_->Cancel();
}

// While the session opens, state_ is taken, and nothing is known.
Share Nodes::Progress() {
  const std::unique_lock lock(state_, std::try_to_lock);
  return lock.owns_lock() && session_ ? session_->Progress() : std::nullopt;
}

// Ending a session waits for the bodies of transactions, and a body may drop a graph meanwhile. So
// state_ is free then.
void Nodes::EndIfCancelled() {
  std::optional<Session> ended;
  const std::lock_guard lock(state_);
  if (!cancelled_.exchange(false)) return;
  ended.swap(session_);
  open_ = false;
}

void Nodes::FreeDropped() {
  std::vector<Graph> dropped;
  const std::lock_guard lock(state_);
  dropped.swap(dropped_);
}

void Nodes::Drop(Graph graph) {
  const std::lock_guard lock(state_);
  dropped_.push_back(std::move(graph));
}

void Nodes::Close() {
  if (closed_.exchange(true)) return;
  Await(
      [this]() -> Status {
        const std::lock_guard one_call(call_);
        FreeDropped();
        std::optional<Session> session;
        {
          const std::lock_guard lock(state_);
          open_ = false;
          session.swap(session_);
        }
        return session ? session->Close() : Status();
      },
      [] {});
}

Loaded::Loaded(std::shared_ptr<Nodes> nodes, Graph graph)
    : nodes_(std::move(nodes)),
      first_(graph),
      current_(std::move(graph)),
      generation_(nodes_->generation()) {}

Loaded::~Loaded() {
  nodes_->Drop(std::move(first_));
  if (current_) nodes_->Drop(std::move(*current_));
}

Status Loaded::OpenIn(Session& session) {
  if (current_ && generation_ == nodes_->generation()) return {};
  current_.reset();
  if (!nodes_->options().pool_graph.empty() && first_.path().empty()) {
    SLIM_ASSIGN(current_, Graph::OfPool(session));
    generation_ = nodes_->generation();
    return {};
  }
  if (first_.path().empty()) {
    return UsageError("the session of this snapshot has ended: open the store again, and take one");
  }
  SLIM_ASSIGN(current_, Graph::Open(session, first_.path(), {.directed = {}, .format = "slim"}));
  generation_ = nodes_->generation();
  return {};
}

std::shared_ptr<const std::vector<std::uint64_t>> Loaded::Ids() {
  if (ids_) return ids_;
  const OriginalIds& ids = first_.ids();
  std::vector<std::uint64_t> list(ids.count());
  for (VertexId i = 0; i < ids.count(); ++i) list[i] = ids[ids.InOrder(i)];
  return ids_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(list));
}

}  // namespace slimgraph::python
