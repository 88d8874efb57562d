// What a node of a pool keeps and who uses it. Thread-safe: each client has a thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/poller.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/pool/status.h"

namespace slimgraph::internal {

// One load of a graph. Its memory is freed once nobody uses it: the pool has dropped it, and the
// jobs that use it have ended.
struct KeptGraph {
  KeptGraphStatus what;
  // parts[k]: the memories of the part of the k-th node before this one.
  std::vector<std::vector<UniqueFd>> parts;
};
using SharedGraph = std::shared_ptr<const KeptGraph>;

class NodeState {
 public:
  explicit NodeState(std::uint64_t memory_bytes);

  // What a graph, or a view of it, is kept under.
  static std::string KeyOf(const std::string& name, const std::string& view);

  // The graph's key is taken from here on, until Keep() or Abandon().
  Status BeginLoad(const KeptGraphStatus& what);
  // Waits while another client has the view made. Nothing: the caller has it made now, as after
  // BeginLoad(); `to_make` says from what.
  Result<SharedGraph> FindOrBeginView(const std::string& name, const std::string& view,
                                      KeptGraphStatus& to_make);
  // The graph counts against the limit from here on, but jobs do not find it yet. If it does not
  // fit, views that nobody uses are dropped, those first that were not used for longest. An error
  // if it does not fit then.
  Status HoldLoaded(KeptGraph graph);
  // Jobs find the graph from here on. An error for a view whose graph was dropped meanwhile.
  Status Keep(const std::string& key);
  void Abandon(const std::string& key);

  Result<SharedGraph> Find(const std::string& key);
  // With all its views. Caches of them end.
  Status Drop(const std::string& name);

  // Returns the number by which the job is known, or an error if the node is about to stop.
  // `asked` is set when there is something to take for the job.
  Result<std::uint64_t> AddJob(AttachedJobStatus job, const Event& asked);
  void SetDeputy(std::uint64_t number, pid_t deputy);
  // Called before the deputy is reaped, so that its process number is still its own.
  void RemoveJob(std::uint64_t number);

  // No job can attach from here on. An error if jobs are attached or graphs are being loaded.
  Status HoldStill();
  void GoOn();
  // No job can attach from here on, and those that are attached shall end. Returns when they have;
  // after a while, their deputies are killed.
  void EndJobs();
  // The jobs of this client (AttachedJobStatus) shall end. Returns their number. An error if a
  // reader asks for it, and they are not of readers.
  Result<std::size_t> CancelJobsOf(const std::string& client, bool asked_by_reader);
  // The jobs of this client shall have so many compute nodes. Returns the number of these jobs; an
  // error also if they cannot be resized.
  Result<std::size_t> ResizeJobsOf(const std::string& client, NodeId compute, bool asked_by_reader);
  // Nothing: it was not asked for since the last call.
  std::optional<NodeId> TakeResize(std::uint64_t number);
  // Why the job shall end, or nothing if nobody wants that.
  std::string WhyUnwanted(std::uint64_t number) const;
  void SetKept(std::uint64_t number, const std::string& why);
  void SetCached(std::uint64_t number, std::uint64_t bytes);

  PoolNodeStatus Describe() const;

 private:
  struct Job {
    AttachedJobStatus what;
    std::uint64_t since_ns;
    const Event* asked = nullptr;
    std::optional<NodeId> resize = {};
    std::string unwanted = {};
    std::uint64_t cached_bytes = 0;
  };
  struct Entry {
    SharedGraph graph;
    std::uint64_t used = 0;  // grows with each use of any graph
  };
  // The caller holds the mutex.
  Status CheckMayChange(const std::string& client, bool asked_by_reader) const;
  std::uint64_t UsedBytes() const;
  void Forget(std::map<std::string, Entry>::iterator entry);
  // Returns what it was kept under; "": there is none. Its memory is freed when its caches end.
  std::string DropUnusedView();
  // The agents of caches of this graph, or view, shall end.
  void EndCachesOf(const std::string& key);
  long CachesOf(const std::string& key) const;

  const std::uint64_t memory_bytes_;
  const std::uint64_t since_ns_;
  mutable Mutex mutex_;
  Condition loaded_or_not_;
  std::map<std::string, Entry> graphs_;
  std::uint64_t uses_ = 0;
  std::vector<std::weak_ptr<const KeptGraph>> dropped_;  // jobs may still use them
  std::map<std::uint64_t, Job> jobs_;
  std::uint64_t last_job_ = 0;
  Condition job_removed_;
  bool holds_still_ = false;
};

}  // namespace slimgraph::internal
