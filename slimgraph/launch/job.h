// This process's membership in a job of N node processes: its node number, small exchanges of
// set-up data among all nodes, and prompt notice when a node dies or fails. Graph data never
// travels here; the fabric carries it.
//
// A job has a hub, node 0, to which every other node keeps one TCP connection. One thread of each
// node sleeps on it. A part of a job consists of nodes that are alive when it is formed. Its
// exchanges are told apart by a tag. Thread-safe, but one thread of a node at a time calls
// Exchange().
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/launch/handshake.h"
#include "slimgraph/launch/quota.h"

namespace slimgraph {

class ControlPlane;
struct Loss;

// What a process must know to join a job.
struct JoinConfig {
  NodeId self = 0;
  NodeId nodes = 1;
  UniqueFd listener{};        // node 0: the socket on which it accepts the others
  std::string hub_address{};  // other nodes: "host:port" of node 0, several separated by commas
  std::string secret{};       // the same on all nodes, never empty; only nodes that know it can
                              // join
  bool encrypts = false;      // the same on all nodes; see Job::encrypts
  bool confined = false;      // the same; some nodes cannot map others' memory
  Quota quota{};              // the same on all nodes
  std::string host_cache{};   // Job::host_cache
  // Node 0: called from time to time while it waits for the others; an error ends the waiting.
  std::function<Status()> still_coming{};
  // Node 0 under OnLoss::kEndJob: called on the control thread when a node has died or does not
  // answer, with the reason. The job is over, and the others know it. The function replaces this
  // process, or returns the reason to print; "": the same.
  std::function<std::string(NodeId lost, const std::string& reason)> before_end{};
};

// Where nodes on other hosts may reach a listening socket: "host:port" for each address of this
// host, the best first, separated by commas; or the host that SLIMGRAPH_HOST names.
std::string HubAddresses(const UniqueFd& listener);

// What a node does when another node is lost.
enum class OnLoss {
  kEndJob,  // one line is printed for the whole job, and every process exits
  kReport,  // alive() turns false and watchers are called; nothing else happens
};

// How long the process manager interface (PMI) is needed.
enum class PmiUse {
  kFormJob,  // until the job has formed
  kMpi,      // until MPI_Init has used it as well
};

// A node that saw an operation fail waits up to this long for notice of the death that caused it.
constexpr std::uint64_t kDeathNoticeNs = 10'000'000'000;

// A function that is called when a node is lost, while this object lives. Once the destructor has
// returned, the function is not running and will not run.
class LossWatch {
 public:
  struct Watcher {
    Mutex mutex;
    std::function<void(NodeId)> call;
    std::uint32_t tag = 0;  // tag of the part whose nodes it watches
  };
  LossWatch() = default;
  explicit LossWatch(std::shared_ptr<Watcher> watcher) : watcher_(std::move(watcher)) {}
  LossWatch(LossWatch&&) = default;
  LossWatch& operator=(LossWatch&& other) noexcept;
  ~LossWatch() { Stop(); }

 private:
  void Stop();
  std::shared_ptr<Watcher> watcher_;
};

class Job {
 public:
  // Joins the job that mpiexec or srun describes in the environment; without one, forms a job of
  // one node. Under OnLoss::kEndJob, a process that cannot join prints why, exits, and makes the
  // launcher end the job.
  static Result<std::unique_ptr<Job>> JoinFromEnvironment(PmiUse pmi_use,
                                                          OnLoss on_loss = OnLoss::kEndJob);

  // Instead of joining the job of the environment: prints why this process cannot, makes the
  // launcher end the job, and exits. Otherwise the others would wait for this node for a minute.
  [[noreturn]] static void CannotJoin(const Error& error);

  static Result<std::unique_ptr<Job>> Join(JoinConfig config, OnLoss on_loss);

  // A job of one node, without connections and threads.
  static std::unique_ptr<Job> Alone();

  ~Job();

  NodeId self() const { return self_; }
  NodeId nodes() const { return nodes_; }
  // Whether everything that the nodes send over TCP is encrypted, here and by the tcp transport.
  bool encrypts() const { return encrypts_; }
  const Quota& quota() const { return quota_; }
  // Where this host's cache of the lenders' memory answers (fabric/host_cache.h); "": nowhere.
  const std::string& host_cache() const { return host_cache_; }

  // Collective: returns all nodes' contributions, in node order. Fails when a node is lost
  // meanwhile. If the job survives deaths, it does not fail then: a dead node contributes "".
  Result<std::vector<std::string>> Exchange(std::string_view mine);

  // Collective among the living nodes: forms a part, which is a job of these nodes only. Its nodes
  // are renumbered in their order, and another thread may make its exchanges. If the job survives
  // deaths and one of the part's nodes dies, all exchanges of the part fail; the remaining nodes
  // can then form another part. Threads that form parts concurrently need different tags (from 1 to
  // 15), the same on all nodes. This job must outlive the part.
  Result<std::unique_ptr<Job>> FormPart(std::uint32_t tag);
  // Called on a part, collective among its living nodes: returns whether all of its nodes have
  // called it. Some may instead have died, or have left this part to form another one. If a node
  // dies meanwhile, all others still get the same answer.
  Result<bool> AllReached();
  // Called on a part when this node's work in it has failed with `error`. The failure may be the
  // consequence of a death, so this first waits for notice of one. If no node of the part has died,
  // the part is aborted: its exchanges fail, this node is no longer alive in it, watchers are
  // called, and no other part with its tag can be formed. The whole job continues. Returns once the
  // outcome is known: true if this node's error aborted the part. Until then the other nodes may
  // still use this node's memory.
  bool AbortPart(const Error& error);
  // The error that aborted the parts with this tag, prefixed with the name of the node; nothing if
  // they were not aborted.
  std::optional<Error> part_error(std::uint32_t tag) const;
  // Collective among the living nodes: runs `work` in a part of them. If a node has died meanwhile,
  // runs it again in a part of the remaining nodes, until all have finished or one node aborts the
  // part. Returns how many times the work was restarted.
  Result<std::uint64_t> RunAmongSurvivors(std::uint32_t tag,
                                          const std::function<Status(Job&)>& work);
  bool is_part() const { return tag_ != 0; }
  // The number of `node` in the job that this job is a part of.
  NodeId node_in_job(NodeId node) const { return members_.empty() ? node : members_[node]; }
  // Whether all nodes of this job are alive. Takes constant time until the first loss.
  bool all_alive() const;

  // True until `node` is known to have died or failed. In a part, also false once `node` has
  // aborted it.
  bool alive(NodeId node) const;

  // Switches survival of deaths on or off. While it is on, when a node's process ends without a
  // report, alive() turns false and watchers are called, and the job continues, whatever OnLoss
  // says. The job still ends when node 0 is lost, when a node fails, or when a node falls silent: a
  // silent node may still write into others' memory.
  void SurviveDeaths(bool survive);

  // The first loss that the job did not survive, as one line; empty if there is none.
  std::string loss() const;
  // That loss, if it is an error that the node itself has reported: neither a death nor silence.
  std::optional<Error> failure() const;

  // Calls `watcher` on the control thread after each loss of a node, until the watch is destroyed.
  // The function must not block.
  [[nodiscard]] LossWatch WatchLoss(std::function<void(NodeId)> watcher);

  // Whether two nodes run on the same kernel with the same network and process ids, and so can
  // share memory.
  bool same_host(NodeId a, NodeId b) const { return hosts_[a] == hosts_[b]; }
  bool one_host() const;
  // Whether all nodes can map each other's memory.
  bool maps_memory() const { return one_host() && !confined_; }

  // The network address under which the other nodes reach `node`.
  const std::string& address(NodeId node) const { return addresses_[node]; }

  // The key with which nodes of the job authenticate connections that they open for `purpose`; the
  // same on all nodes. In a job of one node, each call returns a new key.
  Result<HandshakeKey> KeyFor(std::string_view purpose) const;

  // Called once MPI is up and no longer needs PMI. While PMI is open, mpiexec kills all nodes when
  // one dies, before any node can print an error.
  void LeavePmi();

  // Ends the job on all nodes: one line with this node's name and the error is printed, and the
  // exit code is the error's. Under OnLoss::kEndJob the process exits soon after, whatever its
  // threads do.
  void Fail(const Error& error);

  // Makes this node's work end early, with an error. Any thread may call it. Engines ask for
  // cancelled() from time to time. A job of several nodes fails with `error` as well, which ends
  // all waits. The job cannot be used afterwards.
  void Cancel(const Error& error);
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // How much of the work under way is done on this node, for another thread that shows it. Work
  // whose end cannot be foreseen does not say it; nothing is known after ForgetProgress().
  void SetProgress(std::uint64_t done, std::uint64_t total) {
    progress_.store(total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1,
                    std::memory_order_relaxed);
  }
  void ForgetProgress() { progress_.store(kUnknownProgress, std::memory_order_relaxed); }
  std::optional<double> progress() const {
    const double share = progress_.load(std::memory_order_relaxed);
    return share == kUnknownProgress ? std::nullopt : std::optional(share);
  }
  // The error of work that finds the job cancelled.
  static Status CancelledStatus() { return EnvironmentError("cancelled"); }

  // Collective: waits until all nodes have called it, then leaves the job. The destructor leaves
  // without waiting, which other nodes treat as a death.
  Status Leave(int exit_code);
  // Tells the launcher, if there is one, that this process ends with an error that it has printed.
  // Other nodes see a death once this object is destroyed.
  void LeaveAfter(const Error& error) const;

 private:
  static constexpr double kUnknownProgress = -1;
  struct Launched;
  Job();
  // The same as AllReached(), but a node that has died need not have called it.
  Result<bool> AllLivingReached();
  static Result<std::unique_ptr<Job>> Form(JoinConfig config, OnLoss on_loss,
                                           std::shared_ptr<Launched> launched,
                                           std::vector<int> depends_on);
  [[noreturn]] void EndAfter(const Loss& loss);

  NodeId self_ = 0;
  NodeId nodes_ = 1;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::string> addresses_;
  std::shared_ptr<Launched> launched_;
  std::shared_ptr<ControlPlane> control_;
  std::atomic<bool> cancelled_{false};
  std::atomic<double> progress_{kUnknownProgress};
  std::string secret_;  // empty in a job of one node
  bool encrypts_ = false;
  bool confined_ = false;
  Quota quota_;
  std::string host_cache_;
  std::function<std::string(NodeId, const std::string&)> before_end_;
  std::uint32_t tag_ = 0;        // tag of its exchanges; 0 for a whole job
  std::vector<NodeId> members_;  // of a part: its nodes' numbers in the whole job
};

}  // namespace slimgraph
