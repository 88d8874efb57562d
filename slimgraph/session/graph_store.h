// A graph on disk that transactions change while algorithms run on snapshots of it.
//
//   SLIM_ASSIGN(auto store, GraphStore::Open(session, "friends.store"));
//   auto done = store.Submit([](WriteTransaction& t) -> Status {
//     SLIM_ASSIGN(const auto friends, t.Degree(3));
//     if (friends >= 500) return UsageError("3 has enough friends");
//     return t.AddEdge(3, 5);
//   });
//   if (!done.get().committed()) ...
//   SLIM_ASSIGN(auto now, store.Snapshot());
//   SLIM_ASSIGN(const auto ranks, PageRank(now));
//
// The graph lies in the memory of all nodes of the session, and transactions run on its compute
// nodes. They are serializable. A commit is durable when its future says so, also if all nodes die
// at once: each node keeps a log inside the store. Close() makes the commits part of the store, and
// otherwise the next Open() does.
//
// Each body runs on a thread of the store's own pool. So it may block: sleep, wait for a file or
// for another future. Meanwhile its thread is not available to others, and its transaction is
// under way: it holds locks under nowait, waitdie, boundedwait and calvin, and others may wait for
// its writes under to. The store's own housekeeping stops all transactions for a moment; one whose
// body is blocked then is begun anew. So is one that holds locks while a snapshot is made, if its
// body is blocked for long.
//
// "Collective" calls are made by all compute nodes alike, in the thread that uses the session.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "slimgraph/session/graph.h"
#include "slimgraph/session/store_transaction.h"

namespace slimgraph {

namespace internal {
class BodyPool;
}

struct RetryOptions {
  std::uint32_t attempts = 100;  // after so many, the outcome is kAborted
  // Before the n-th retry a random time passes, at most first_wait * 2^(n-1) and longest_wait.
  std::chrono::microseconds first_wait{20};
  std::chrono::microseconds longest_wait{10'000};
};

struct StoreOptions {
  std::string protocol = "occ";  // or nowait, waitdie, boundedwait, to, mvcc, sundial, calvin
  // Bodies of SubmitReadOnly() read the graph as it was at one moment, about when they began. They
  // take no locks and are not begun anew because of others. They see all commits of their node;
  // from other nodes, they may miss those of the last instant, by as much as the nodes' clocks
  // differ. With occ, nowait, waitdie, boundedwait and mvcc; others' commits then take a little
  // longer.
  bool reads_at_a_time = false;
  std::uint32_t body_threads = 16;  // of each compute node: how many bodies run at the same time
  RetryOptions retry = {};
  // For how many added or changed edges there is room at first; 0: half of the store's edges, at
  // least a million. The room grows as far as the nodes' memory allows. Changes are folded into the
  // graph's lists in the background, which makes room again.
  std::uint64_t room_edges = 0;
};

struct CreateOptions {
  std::uint32_t vertex_bytes = 0;  // properties of each vertex, 0..256 bytes
  std::uint32_t edge_bytes = 0;    // properties of each edge besides its weight, 0..256 bytes
  bool weighted = false;           // for a store that begins without edges
  // Indexes of the vertices, each as NAME=OFFSET:TYPE: "age=0:u32" is one by the number of 4 bytes
  // with which the properties of vertices begin. Types are u8, u16, u32, u64, i8, i16, i32, i64,
  // f32 and f64. Transactions find vertices by them: ReadTransaction::FindVertices().
  std::vector<std::string> indexes = {};
};

// How a transaction has ended.
struct TransactionOutcome {
  enum class End {
    kCommitted,
    kAborted,  // nothing has changed
    kUnknown,  // a node has died, or the log could not be written, in the commit
  };
  End end = End::kAborted;
  // Of the commit: later than that of every transaction whose effects it has seen or overwritten.
  // If the transaction has written nothing: not earlier. The upper 48 bits are milliseconds since
  // 1970.
  std::uint64_t time = 0;
  std::uint32_t attempts = 0;
  Error cause = {ErrorKind::kUsage, ""};  // unless it was committed; what its body has returned

  bool committed() const { return end == End::kCommitted; }
};

class GraphStore {
 public:
  // Collective. Makes a store that begins with these edges and vertices; only node 0's count.
  static Status Create(Session& session, const std::string& path, const EdgeArrays& edges,
                       const CreateOptions& options = {});
  // Collective. Opens a store of Create() or `slimgraph store create`, which all nodes must see
  // under the same path. It can be open once at a time. Meanwhile `slimgraph store apply` is
  // refused.
  static Result<GraphStore> Open(Session& session, const std::string& path,
                                 const StoreOptions& options = {});
  GraphStore(GraphStore&&) noexcept;
  GraphStore& operator=(GraphStore&&) noexcept;
  ~GraphStore();  // closes it

  // Runs the body in a transaction, again if it meets others. If the body returns an error, the
  // transaction is aborted with that as the cause. If it throws, the future throws. From any
  // thread.
  std::future<TransactionOutcome> Submit(std::function<Status(WriteTransaction&)> body);
  std::future<TransactionOutcome> SubmitReadOnly(std::function<Status(ReadTransaction&)> body);

  // Collective. The graph at one moment, with all transactions that were committed before the call.
  // It stays as it is, also after the store is closed.
  Result<Graph> Snapshot();

  // Collective. Waits for all bodies that were submitted, then makes all commits part of the store.
  Status Close();

 private:
  GraphStore(std::shared_ptr<internal::Nodes> nodes, std::string path, std::uint64_t number,
             std::shared_ptr<internal::BodyPool> pool);
  std::shared_ptr<internal::Nodes> nodes_;
  std::string path_;
  std::uint64_t number_ = 0;
  std::shared_ptr<internal::BodyPool> pool_;
};

}  // namespace slimgraph
