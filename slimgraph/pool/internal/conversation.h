// Requests and answers between a client and a node of a pool, over one connection. Each is a list
// of words, encrypted under a key that only this connection has.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/launch/joining.h"
#include "slimgraph/pool/descriptor.h"

namespace slimgraph::internal {

using Words = std::vector<std::string>;

// The requests. An answer begins with kDone, or is kFailed, the kind of the error and its message.
inline constexpr std::string_view kDone = "done";
inline constexpr std::string_view kFailed = "failed";
inline constexpr std::string_view kConfirm = "confirm";  // the pool has started
inline constexpr std::string_view kStatus = "status";
inline constexpr std::string_view kFind = "find";  // GRAPH
inline constexpr std::string_view kView = "view";  // GRAPH VIEW: makes it if it is not there
inline constexpr std::string_view kLoad = "load";  // GRAPH ID FILE SHOWN
inline constexpr std::string_view kKeep = "keep";  // what this connection has loaded
inline constexpr std::string_view kDrop = "drop";  // GRAPH
inline constexpr std::string_view kAttach =
    "attach";  // GRAPH VIEW ID PLACE FOLDER CLIENT PART COMPUTE KIND WORD…
// The kinds of an attached job. A cache is the agent of a host's cache.
inline constexpr std::string_view kResizable = "resizable";
inline constexpr std::string_view kCache = "cache";
// BYTES: so much is in the cache of the agent that has attached; no answer.
inline constexpr std::string_view kCached = "cached";
// CLIENT COMPUTE: whose job shall have so many compute nodes. The job's connection gets
// kResize COMPUTE, without having asked.
inline constexpr std::string_view kResize = "resize";
// WHY: the job that this client has attached keeps its compute nodes; no answer.
inline constexpr std::string_view kKept = "kept";
inline constexpr std::string_view kCancel = "cancel";  // CLIENT: whose job shall end
// WHY: to a job's connection, before its deputy is killed because someone wants the job to end.
inline constexpr std::string_view kUnwanted = "unwanted";
// This client is still there; no answer. What a connection holds, such as a graph that it has
// loaded and does not keep yet, is forgotten if the node hears nothing for kLeaseNs.
inline constexpr std::string_view kHere = "here";
inline constexpr std::string_view kHoldStill = "hold-still";  // no more jobs, if none is attached
inline constexpr std::string_view kStop = "stop";

// Whether a client may ask this who only reads (sharing.h).
constexpr bool MayReadersAsk(std::string_view request) {
  return request == kStatus || request == kFind || request == kView || request == kAttach ||
         request == kCancel || request == kResize;
}

constexpr std::string_view kPoolPurpose = "pool";  // of the handshake
constexpr std::string_view kJoinPurpose = "start of a pool";
constexpr std::uint64_t kAnswerNs = 20'000'000'000;  // limit of an answer that needs no work
constexpr std::uint64_t kLeaseNs = 12'000'000'000;
constexpr std::chrono::seconds kRenewal{3};  // how often a client says that it is there

class Conversation {
 public:
  // A client's side: connects to a node of the pool.
  static Result<Conversation> Open(const PoolDescriptor& pool, NodeId node,
                                   std::uint64_t limit_ns = kAnswerNs);
  // The side of a process that a launcher has started: connects to the command that starts the
  // pool, at one of these addresses (HubAddresses).
  static Result<Conversation> OpenToStarter(const std::string& addresses,
                                            const std::string& secret);
  // The node's side, or that of the command that starts the pool. `pools_key`: or its secret.
  static Result<Conversation> Accept(Newcomers::Member member, const HandshakeKey& key,
                                     std::string_view pools_key);

  int fd() const { return fd_.get(); }
  NodeId node() const { return node_; }  // for clients: the other side
  Status Send(const Words& words);
  // Nothing: the other side has closed the connection, or `deadline_ns` has passed.
  Result<std::optional<Words>> Receive(std::uint64_t deadline_ns);
  // Whether the other side has closed the connection or sent more than was asked. Does not wait.
  bool HasEnded();
  // Waits until there is something to receive. False: nothing has come within `limit`.
  bool AwaitSomething(std::chrono::nanoseconds limit);

  // For clients: sends a request and returns the answer without kDone. The error names the node.
  Result<Words> Ask(const Words& request, std::uint64_t limit_ns = kAnswerNs);
  Result<Words> AwaitAnswer(std::uint64_t limit_ns);
  // For clients that give up: returns once the node has forgotten what they have begun there.
  void GiveUp();

 private:
  Conversation(UniqueFd fd, FrameReader reader, const HandshakeKey& box, bool is_client,
               std::string name);

  UniqueFd fd_;
  FrameReader reader_;
  HandshakeKey box_;
  std::uint64_t next_sent_;  // the numbers of a client's messages are even
  std::uint64_t next_received_;
  std::string name_;  // of the other side, in errors
  NodeId node_ = 0;
};

Words FailureAnswer(const Error& error);

}  // namespace slimgraph::internal
