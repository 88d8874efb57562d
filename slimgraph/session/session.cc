#include "slimgraph/session/session.h"

#include <string_view>

#include "slimgraph/base/folders.h"
#include "slimgraph/session/internal/nodes.h"

namespace slimgraph {

std::string internal::InstalledCommand(const char* header) {
  constexpr std::string_view kPlace = "include/slimgraph/session/session.h";
  std::string path = header;
  if (path.ends_with(kPlace)) {
    path = path.substr(0, path.size() - kPlace.size()) + "bin/slimgraph";
    if (Exists(path).value_or(false)) return path;
  }
  return "slimgraph";
}

Result<Session> Session::Open(const SessionOptions& options) {
  SLIM_ASSIGN(auto nodes, internal::Nodes::Form(options));
  return Session(std::move(nodes));
}

Result<Session> Session::Attach(const std::string& pool_graph, SessionOptions options) {
  options.pool_graph = pool_graph;
  return Open(options);
}

Session::Session(std::shared_ptr<internal::Nodes> nodes) : nodes_(std::move(nodes)) {}
Session::Session(Session&&) noexcept = default;

Session& Session::operator=(Session&& other) noexcept {
  if (this == &other) return *this;
  if (nodes_) static_cast<void>(nodes_->Close());
  nodes_ = std::move(other.nodes_);
  return *this;
}

Session::~Session() {
  if (nodes_) static_cast<void>(nodes_->Close());
}

NodeId Session::node() const { return nodes_->self(); }
NodeId Session::nodes() const { return nodes_->nodes(); }
NodeId Session::compute() const { return nodes_->compute(); }
void Session::Cancel() { nodes_->Cancel(); }
std::optional<double> Session::Progress() const { return nodes_->progress(); }
Status Session::Close() { return nodes_ ? nodes_->Close() : Status(); }

}  // namespace slimgraph
