// This process's membership in a job of N node processes: who it is, small exchanges of set-up data
// among all of them, and prompt word when one of them dies or gives up. Data never goes this way;
// that is the fabric's.
//
// A job has a hub, node 0, to which every other node keeps one TCP connection. A thread of each
// node sleeps on it. Thread-safe, but Exchange() is called by one thread of a node at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

class ControlPlane;
struct Loss;

// Where a process stands in a job that is being put together.
struct JobPlace {
  NodeId self = 0;
  NodeId nodes = 1;
  UniqueFd listener{};        // node 0: the socket on which the others arrive
  std::string hub_address{};  // the others: "host:port" of node 0, several separated by commas
  std::string secret{};       // the same on all nodes of a job, so that strangers are turned away
};

// What a node does when another one is lost.
enum class OnLoss {
  kEndJob,  // one line is printed for the whole job, and every process exits
  kReport,  // alive() turns false and watchers are called; the rest goes on
};

// What the process manager's interface is needed for.
enum class PmiUse {
  kFormJob,  // to form the job, no longer
  kMpi,      // MPI_Init shall find it as well
};

// So soon there is word of a death that has made something fail.
constexpr std::uint64_t kWordOfDeathNs = 10'000'000'000;

// A function that is called when a node is lost, as long as this lives. Once it is destroyed, the
// function is not running and will not run.
class LossWatch {
 public:
  struct Watcher {
    std::mutex mutex;
    std::function<void(NodeId)> call;
    std::uint32_t line = 0;  // of the part of a job whose nodes it watches
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
  // Joins the job that mpiexec or srun describes in the environment; alone where there is none. A
  // process that cannot join says why, ends, and ends those that wait for it.
  static Result<std::unique_ptr<Job>> JoinFromEnvironment(PmiUse pmi_use,
                                                          OnLoss on_loss = OnLoss::kEndJob);

  static Result<std::unique_ptr<Job>> Join(JobPlace place, OnLoss on_loss);

  // A job of one node: no connection, no thread.
  static std::unique_ptr<Job> Alone();

  ~Job();

  NodeId self() const { return self_; }
  NodeId nodes() const { return nodes_; }

  // Collective: everyone's contribution, in order of node. Fails when a node is lost meanwhile, but
  // for a death that is survived: whoever has died contributes "".
  Result<std::vector<std::string>> Exchange(std::string_view mine);

  // Collective among those that live: a job of these alone, numbered anew in their order, whose
  // exchanges may be made by another thread than this one's. When one of them dies, all its
  // exchanges fail, where deaths are survived: then those that are left can form another. Who does
  // so at the same time as others has a `line` of its own, 1 or more, the same on all nodes. This
  // one outlives it.
  Result<std::unique_ptr<Job>> OfTheLiving(std::uint32_t line);
  // Of such a part, collective among those of it that live, some of which may have given it up to
  // form another: whether all of them have come to this. Whoever dies meanwhile, all learn the
  // same.
  Result<bool> AllHaveCome();
  // Of such a part: this node's work in it has failed. When no node of it has died, of which word
  // may come after what a death makes fail, the part is given up for that error: its exchanges
  // fail, this node is no longer alive in it, watchers are called, and no other is formed of its
  // line. The job goes on. Returns when that is known, and whether the error is what ended it;
  // until then the others must find what they use of this node.
  bool GiveUp(const Error& error);
  // That error, with the name of the node, when the parts of a line were given up.
  std::optional<Error> given_up(std::uint32_t line) const;
  // Collective among those that live: `work` in a part of them, and in one of those that are left
  // when a node has died meanwhile, until all are through or one gives up. How often it was begun
  // anew.
  Result<std::uint64_t> WorkAmongTheLiving(std::uint32_t line,
                                           const std::function<Status(Job&)>& work);
  // What the job that this one is a part of calls a node.
  NodeId number_in_whole(NodeId node) const { return members_.empty() ? node : members_[node]; }
  // Whether all of its nodes live.
  bool whole() const;

  // True until `node` is known to have died or given up; of a part, until it has given that up.
  bool alive(NodeId node) const;

  // From now on, or no longer: when a node's process ends without a word, alive() turns false and
  // watchers are called, and the rest goes on. Whatever OnLoss says of it, the loss of node 0, a
  // node that gives up, and one that falls silent end the job as ever: the last may still write
  // into others' memory.
  void SurviveDeaths(bool survive);

  // The first node that was lost and is missed, as one line; empty while there is none.
  std::string loss() const;

  // Calls `watcher` from the control thread after a node was lost, until the watch is destroyed.
  // It must not block.
  [[nodiscard]] LossWatch WatchLoss(std::function<void(NodeId)> watcher);

  // Whether two nodes share a kernel, a network and so their memory.
  bool same_host(NodeId a, NodeId b) const { return hosts_[a] == hosts_[b]; }
  bool one_host() const;

  // The network address under which the other nodes reach `node`.
  const std::string& address(NodeId node) const { return addresses_[node]; }

  // MPI is up, and does without the process manager's interface from now on. As long as that is
  // open, mpiexec kills all nodes when one dies, before any can say a word.
  void LeavePmi();

  // Ends the job for everyone: one line with this node's name and the error, the error's exit code.
  // Under OnLoss::kEndJob the process ends soon after, whatever its threads do.
  void Fail(const Error& error);

  // Collective: waits until all nodes are here, then takes leave of them. The destructor does
  // without waiting, which the others take for a death.
  Status Leave(int exit_code);

 private:
  struct Launched;
  Job();
  static Result<std::unique_ptr<Job>> Form(JobPlace place, OnLoss on_loss,
                                           std::shared_ptr<Launched> launched,
                                           std::vector<int> depends_on);
  [[noreturn]] void EndProcess(const Loss& loss);

  NodeId self_ = 0;
  NodeId nodes_ = 1;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::string> addresses_;
  std::shared_ptr<Launched> launched_;
  std::shared_ptr<ControlPlane> control_;
  std::uint32_t line_ = 0;       // of its exchanges
  std::vector<NodeId> members_;  // of a part of a job: what the whole calls its nodes
};

}  // namespace slimgraph
