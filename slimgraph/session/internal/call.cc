#include "slimgraph/session/internal/call.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace slimgraph::internal {
namespace {

// A node's contribution: its error, or its call. Memory nodes contribute nothing.
constexpr std::uint64_t kError = 1;
constexpr std::uint64_t kCall = 2;

class CallWriter {
 public:
  void Put(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void Put(std::string_view words) {
    Put(words.size());
    text_ += words;
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

// All nodes run the same version, so a contribution that ends early is a bug.
class CallReader {
 public:
  explicit CallReader(std::string_view text) : text_(text) {}
  std::uint64_t Number() {
    std::uint64_t number = 0;
    std::memcpy(&number, Bytes(sizeof number).data(), sizeof number);
    return number;
  }
  std::string Words() { return std::string(Bytes(Number())); }

 private:
  std::string_view Bytes(std::uint64_t count) {
    SLIM_CHECK(count <= text_.size(), "a call ends early");
    const std::string_view bytes = text_.substr(0, count);
    text_.remove_prefix(count);
    return bytes;
  }
  std::string_view text_;
};

std::string Written(const Error& error) {
  CallWriter out;
  out.Put(kError);
  out.Put(static_cast<std::uint64_t>(error.kind));
  out.Put(error.message);
  return std::move(out).text();
}

Error ReadError(CallReader& in) {
  const auto kind = static_cast<ErrorKind>(in.Number());
  return {kind, in.Words()};
}

std::string Written(const std::string& name, const Result<Call>& call) {
  if (!call) return Written(call.error());
  CallWriter out;
  out.Put(kCall);
  out.Put(name);
  out.Put(static_cast<std::uint64_t>(call->task));
  out.Put(call->graph);
  out.Put(call->path);
  out.Put(call->shown);
  out.Put(call->request);
  out.Put(call->algorithm);
  out.Put(call->dropped.size());
  for (const std::uint64_t graph : call->dropped) out.Put(graph);
  return std::move(out).text();
}

Result<Call> ReadCall(std::string_view text) {
  CallReader in(text);
  if (in.Number() == kError) return tl::unexpected<Error>(ReadError(in));
  Call call;
  call.name = in.Words();
  call.task = static_cast<Task>(in.Number());
  call.graph = in.Number();
  call.path = in.Words();
  call.shown = in.Words();
  call.request = in.Words();
  call.algorithm = in.Words();
  call.dropped.resize(in.Number());
  for (std::uint64_t& graph : call.dropped) graph = in.Number();
  std::sort(call.dropped.begin(), call.dropped.end());
  return call;
}

Result<Call> ReadCalls(const std::vector<std::string>& all) {
  // Node 0 contributes nothing once it has failed; its loss is known soon.
  if (all[0].empty()) return EnvironmentError("node 0 makes no call any more");
  SLIM_ASSIGN(Call agreed, ReadCall(all[0]));
  for (std::size_t node = 1; node < all.size() && !all[node].empty(); ++node) {
    SLIM_ASSIGN(const Call other, ReadCall(all[node]));
    if (other.name != agreed.name) {
      return UsageError(
          "node {} calls {} while node 0 calls {}: all compute nodes must make the "
          "same calls in the same order",
          node, other.name, agreed.name);
    }
    // The number of a graph or store that is opened now is node 0's.
    const bool opens = agreed.task == Task::kOpen || agreed.task == Task::kOpenStore ||
                       agreed.task == Task::kSnapshot;
    const bool same_graph = other.graph == agreed.graph || opens;
    if (!same_graph || other.task != agreed.task) {
      return UsageError(
          "node {} calls {} for another graph than node 0: all compute nodes must make the "
          "same calls in the same order",
          node, other.name);
    }
    std::erase_if(agreed.dropped, [&](std::uint64_t graph) {
      return !std::binary_search(other.dropped.begin(), other.dropped.end(), graph);
    });
  }
  return agreed;
}

}  // namespace

Result<Call> AgreeOnCall(Job& job, const std::string& name, const Result<Call>& mine) {
  SLIM_ASSIGN(const auto all, job.Exchange(Written(name, mine)));
  return ReadCalls(all);
}

Result<Call> AwaitCall(Job& job) {
  SLIM_ASSIGN(const auto all, job.Exchange(""));
  return ReadCalls(all);
}

Status AgreeOnVersion(Job& job, const std::string& mine) {
  SLIM_ASSIGN(const auto all, job.Exchange(mine));
  for (std::size_t node = 1; node < all.size(); ++node) {
    if (all[node] == all[0]) continue;
    return EnvironmentError(
        "node {} runs another version of SlimGraph than node 0: install the library and the "
        "memory-node program together, or set SessionOptions.memory_node_program",
        node);
  }
  return {};
}

// No exchange completes after a loss. One that others have begun earlier may complete.
void FailAndAwait(Job& job, const Error& error) {
  job.Fail(error);
  while (job.Exchange("")) {
  }
}

Status AgreeOnStatus(Job& job, const Status& mine) {
  SLIM_ASSIGN(const auto all, job.Exchange(mine ? std::string() : Written(mine.error())));
  for (const std::string& one : all) {
    if (one.empty()) continue;
    CallReader in(one);
    in.Number();
    return tl::unexpected<Error>(ReadError(in));
  }
  return {};
}

}  // namespace slimgraph::internal
