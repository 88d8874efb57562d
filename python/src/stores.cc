// The class Store of the module. The package runs a body by two functions: one makes an attempt,
// the other learns how the transaction has ended. Threads of the store call both.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <future>

#include "python/src/arrays.h"
#include "python/src/module.h"
#include "python/src/nodes.h"
#include "python/src/transaction.h"
#include "slimgraph/session/graph_store.h"

namespace slimgraph::python {
namespace {

namespace nb = nanobind;

// What a transaction has for a cause if its attempt has failed in Python.
constexpr const char* kFailedInPython = "the function has failed";

// A transaction that was submitted. The pool keeps its body until the future is ready. So once the
// body is gone, and the future is here, the outcome is known and nobody waits for it.
class Submission {
 public:
  Submission(std::shared_ptr<Nodes> nodes, nb::object attempt, nb::object ended)
      : nodes_(std::move(nodes)), attempt_(std::move(attempt)), ended_(std::move(ended)) {}
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;
  ~Submission() {
    const nb::gil_scoped_acquire acquire;
    attempt_.reset();
    ended_.reset();
  }

  Status Try(WriteTransaction& transaction) {
    const nb::gil_scoped_acquire acquire;
    const auto seen = std::make_shared<Transaction>(nodes_, transaction);
    bool done = false;
    try {
      done = nb::cast<bool>(attempt_(seen));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("the attempt of a transaction");
    }
    seen->End();
    if (!done) return UsageError("{}", kFailedInPython);
    return {};
  }
  void Take(std::future<TransactionOutcome> future) {
    future_ = std::move(future);
    Arrive();
  }
  void BodyIsGone() { Arrive(); }

 private:
  // The second of two calls reports the outcome.
  void Arrive() {
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == 0) return;
    const nb::gil_scoped_acquire acquire;
    try {
      const TransactionOutcome outcome = future_.get();
      const char* const ends[] = {"committed", "aborted", "unknown"};
      const bool in_python = outcome.cause.message == kFailedInPython;
      ended_(ends[static_cast<int>(outcome.end)], outcome.time, outcome.attempts,
             static_cast<int>(outcome.cause.kind), in_python ? "" : outcome.cause.message);
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("the end of a transaction");
    }
  }

  std::shared_ptr<Nodes> nodes_;
  nb::object attempt_;
  nb::object ended_;
  std::future<TransactionOutcome> future_;
  std::atomic<int> arrived_{0};
};

// What the pool has of a submission.
class BodyOfSubmission {
 public:
  explicit BodyOfSubmission(std::shared_ptr<Submission> submission)
      : submission_(std::move(submission)) {}
  BodyOfSubmission(const BodyOfSubmission&) = delete;
  BodyOfSubmission& operator=(const BodyOfSubmission&) = delete;
  ~BodyOfSubmission() { submission_->BodyIsGone(); }
  Status Try(WriteTransaction& transaction) const { return submission_->Try(transaction); }

 private:
  std::shared_ptr<Submission> submission_;
};

class OpenedStore {
 public:
  OpenedStore(std::shared_ptr<Nodes> nodes, GraphStore store)
      : nodes_(std::move(nodes)), generation_(nodes_->generation()), store_(std::move(store)) {}

  void Submit(nb::object attempt, nb::object ended, bool only_reads) {
    const auto submission =
        std::make_shared<Submission>(nodes_, std::move(attempt), std::move(ended));
    const nb::gil_scoped_release release;
    auto body = std::make_shared<BodyOfSubmission>(submission);
    std::future<TransactionOutcome> future;
    {
      const std::lock_guard lock(using_);
      if (store_) {
        // The class of Python that the function gets has the reading operations alone.
        const auto read = [body](ReadTransaction& t) {
          return body->Try(static_cast<WriteTransaction&>(t));
        };
        const auto write = [body](WriteTransaction& t) { return body->Try(t); };
        future = only_reads ? store_->SubmitReadOnly(read) : store_->Submit(write);
      } else {
        std::promise<TransactionOutcome> refused;
        TransactionOutcome outcome;
        outcome.cause = Closed();
        refused.set_value(std::move(outcome));
        future = refused.get_future();
      }
    }
    body.reset();
    submission->Take(std::move(future));
  }

  std::shared_ptr<Loaded> Snapshot() {
    Graph graph = nodes_->Call([this](Session&) -> Result<Graph> {
      if (!usable()) return tl::unexpected<Error>(Closed());
      return store_->Snapshot();
    });
    return std::make_shared<Loaded>(nodes_, std::move(graph));
  }

  // Once its session has ended, the store is closed, and there is nothing to do.
  void Close() {
    if (!nodes_->open() || generation_ != nodes_->generation()) return;
    nodes_->Call([this](Session&) -> Status {
      if (!usable()) return {};
      const Status closed = store_->Close();
      const std::lock_guard lock(using_);
      store_.reset();
      return closed;
    });
  }

 private:
  static Error Closed() { return {ErrorKind::kUsage, "the store is closed: open it again"}; }
  // In a call.
  bool usable() const { return store_ && generation_ == nodes_->generation(); }

  std::shared_ptr<Nodes> nodes_;
  const std::uint64_t generation_;
  Mutex using_;  // a call to Submit(), or the end of store_
  std::optional<GraphStore> store_;
};

StoreOptions OptionsOf(const std::string& protocol, bool reads_at_a_time,
                       std::uint32_t body_threads, std::uint32_t attempts, double first_wait_s,
                       double longest_wait_s, std::uint64_t room_edges) {
  const auto wait = [](double seconds) {
    return std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
  };
  return {.protocol = protocol,
          .reads_at_a_time = reads_at_a_time,
          .body_threads = body_threads,
          .retry = {.attempts = attempts,
                    .first_wait = wait(first_wait_s),
                    .longest_wait = wait(longest_wait_s)},
          .room_edges = room_edges};
}

std::shared_ptr<OpenedStore> OpenStore(const std::shared_ptr<Nodes>& nodes, const std::string& path,
                                       const std::string& protocol, bool reads_at_a_time,
                                       std::uint32_t body_threads, std::uint32_t attempts,
                                       double first_wait_s, double longest_wait_s,
                                       std::uint64_t room_edges) {
  const StoreOptions options = OptionsOf(protocol, reads_at_a_time, body_threads, attempts,
                                         first_wait_s, longest_wait_s, room_edges);
  GraphStore store =
      nodes->Call([&](Session& session) { return GraphStore::Open(session, path, options); });
  return std::make_shared<OpenedStore>(nodes, std::move(store));
}

void CreateStore(const std::shared_ptr<Nodes>& nodes, const std::string& path, const IdsIn& src,
                 const IdsIn& dst, const std::optional<WeightsIn>& weights, bool directed,
                 const std::optional<IdsIn>& vertices, std::uint32_t vertex_bytes,
                 std::uint32_t edge_bytes, bool weighted, const std::vector<std::string>& indexes) {
  const EdgeArrays edges = EdgeArraysOf(src, dst, weights, directed, vertices);
  const CreateOptions options{.vertex_bytes = vertex_bytes,
                              .edge_bytes = edge_bytes,
                              .weighted = weighted,
                              .indexes = indexes};
  nodes->Call([&](Session& session) { return GraphStore::Create(session, path, edges, options); });
}

}  // namespace

void BindStores(nb::module_& module) {
  BindTransaction(module);
  module.def("create_store", &CreateStore, nb::arg("session"), nb::arg("path"), nb::arg("src"),
             nb::arg("dst"), nb::arg("weights").none(), nb::arg("directed"),
             nb::arg("vertices").none(), nb::arg("vertex_bytes"), nb::arg("edge_bytes"),
             nb::arg("weighted"), nb::arg("indexes"));
  nb::class_<OpenedStore>(module, "Store")
      .def_static("open", &OpenStore, nb::arg("session"), nb::arg("path"), nb::arg("protocol"),
                  nb::arg("reads_at_a_time"), nb::arg("body_threads"), nb::arg("attempts"),
                  nb::arg("first_wait_s"), nb::arg("longest_wait_s"), nb::arg("room_edges"))
      .def("submit", &OpenedStore::Submit, nb::arg("attempt"), nb::arg("ended"),
           nb::arg("only_reads"))
      .def("snapshot", &OpenedStore::Snapshot)
      .def("close", &OpenedStore::Close);
}

}  // namespace slimgraph::python
