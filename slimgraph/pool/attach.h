// A job that uses a graph of a standing pool. The process that begins it becomes node 0. It starts
// the other compute nodes itself; each node of the pool starts a deputy, a memory node of the job,
// that maps the graph. With C compute nodes and a pool of N nodes the job has C + N nodes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/fabric_options.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

struct AttachRequest {
  std::string pool;
  std::string graph;
  // The view (pool/status.h) that the job needs, by the graph's facts; "": the graph as it was
  // loaded. Made now if the pool does not have it yet.
  std::function<Result<std::string>(const std::string& facts)> view_of = {};
  bool views_are_graphs = false;  // then PoolFacts has the view's facts, not those of the graph
  NodeId compute = 1;
  bool resizable = false;  // the job asks for TakeResize()
  // By which `job list` names the job; 0: this process.
  pid_t process = 0;
  // Of the job; "": tcp if the pool has hosts or is shared with this user, else shm.
  std::string transport = {};
  NodesInPlace in_place = {};  // the lists of all others are read as from another host
  bool is_cache = false;       // the job is the agent of a host's cache
  // The command line after the program's name. The other compute nodes and the deputies have the
  // same, and find their Place (launch/place.h) in the environment; deputies also find their part
  // of the graph there (TakeStandingPart()).
  std::vector<std::string> words;
  // The command line of the other compute nodes. Empty: this program with `words`; such processes
  // end when the calling thread ends.
  std::vector<std::string> compute_command = {};
};

struct PoolFacts {
  NodeId nodes = 0;   // of the pool
  NodeId copies = 1;  // of each part
  std::string id;     // of the graph's load
  std::string facts;  // about the graph, as the loader on node 0 of the pool has told
};

class Attachment {
 public:
  // An error if the pool does not have the graph; nothing has been started then.
  static Result<std::unique_ptr<Attachment>> Make(const AttachRequest& request);
  // The deputies end with the job. The destructor waits a second for them; their nodes kill those
  // that do not end. It reaps the other compute nodes, and kills those that have not ended after
  // some seconds.
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  // What Job::Join needs, only once. This object must outlive the call of Job::Join.
  JoinConfig TakeConfig();
  const PoolFacts& facts() const { return facts_; }
  // How many compute nodes the job shall have from now on, if `slimgraph job resize` has said so
  // since the last call. Does not wait.
  std::optional<NodeId> TakeResize();
  // Why someone wants the job to end, such as `slimgraph job cancel`; "": nobody does. Any thread
  // may call it.
  std::string WhyUnwanted();
  // Tells the one who has asked why the job keeps its compute nodes.
  void TellKept(const std::string& why);
  // An agent: how much its cache has.
  void TellCached(std::uint64_t bytes);

 private:
  struct Deputies;
  Attachment();
  Status CheckAllRun();
  // Whether the connection has ended. Keeps what has arrived there.
  bool ConnectionHasEnded(std::size_t connection);
  void Reap();

  PoolFacts facts_;
  JoinConfig config_;
  std::unique_ptr<Deputies> deputies_;
  std::vector<pid_t> compute_;
  bool joined_ = false;  // the job has formed, as far as this object knows
  Mutex mutex_;          // of the connections and what has arrived there, once the job has formed
  std::optional<NodeId> resize_;
  std::string why_unwanted_;
};

// For the program that pool nodes start as deputies, first of all: if this process is the deputy of
// a client who only reads (sharing.h), it is confined to the graph's file (base/confine.h).
Status ConfineDeputy();

// What a deputy, a memory node of a job that a pool's node has started, finds in its environment.
struct StandingHere {
  std::string graph;
  std::string facts;  // as the loader of this node has told
  std::vector<std::unique_ptr<SharedMemory>> memories;
};
// Only once: the descriptors become the result's. Nothing: this process is no deputy.
Result<std::optional<StandingHere>> TakeStandingPart();

}  // namespace slimgraph
