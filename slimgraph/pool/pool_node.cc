#include "slimgraph/pool/pool_node.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/confine.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/launch/place.h"
#include "slimgraph/pool/internal/conversation.h"
#include "slimgraph/pool/internal/loading.h"
#include "slimgraph/pool/internal/node_place.h"
#include "slimgraph/pool/internal/node_state.h"
#include "slimgraph/pool/internal/part_variable.h"
#include "slimgraph/pool/sharing.h"

namespace slimgraph {
namespace internal {

std::string NodePlace::ToText() const {
  return fmt::format("{} {} {} {} {} {}", node, nodes, copies, memory_bytes, key, log);
}

Result<NodePlace> TakeNodePlace() {
  const char* const set = std::getenv(kPoolNodeVariable);
  const std::string text = set == nullptr ? "" : set;
  ::unsetenv(kPoolNodeVariable);
  const auto words = Split(text, ' ');
  const auto number = [&](std::size_t i) {
    return std::strtoull(std::string(words[i]).c_str(), nullptr, 10);
  };
  if (words.size() < 6 || number(2) == 0 || number(2) > number(1) || number(1) > kMaxNodes ||
      number(0) >= number(1) || ::fcntl(kPoolListener, F_SETFD, FD_CLOEXEC) != 0) {
    return UsageError("{} is started by 'slimgraph pool start', not by hand", kPoolNodeCommand);
  }
  return NodePlace{.node = static_cast<NodeId>(number(0)),
                   .nodes = static_cast<NodeId>(number(1)),
                   .copies = static_cast<NodeId>(number(2)),
                   .memory_bytes = number(3),
                   .key = std::string(words[4]),
                   .log = text.substr(static_cast<std::size_t>(words[5].data() - text.data()))};
}

}  // namespace internal

namespace {

using internal::Conversation;
using internal::FailureAnswer;
using internal::KeptGraph;
using internal::NodePlace;
using internal::NodeState;
using internal::SharedGraph;
using internal::Words;

constexpr std::size_t kMaxStrangersOfPool = 64;
constexpr std::size_t kMaxClients = 1024;
constexpr std::uint64_t kUntilConfirmedNs = 60'000'000'000;
constexpr std::uint64_t kSleepNs = 3'600'000'000'000;
// After its job, or its client, has ended.
constexpr std::chrono::seconds kUntilDeputyEnds{5};

int Reap(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What the threads of a node share.
struct Node {
  NodePlace place;
  // Of those who may do everything, and of readers (sharing.h).
  std::array<std::string, 2> secrets;
  std::array<HandshakeKey, 2> keys;
  NodeState state;
  std::atomic<bool> confirmed{false};  // the command that starts the pool has finished
  std::atomic<std::size_t> clients{0};
};

// One client's requests, on a thread of its own.
class ClientService {
 public:
  ClientService(Conversation client, bool only_reads, Node& node)
      : client_(std::move(client)), only_reads_(only_reads), node_(node) {}
  ~ClientService() {
    if (!loaded_.empty()) node_.state.Abandon(loaded_);
    if (holds_still_) node_.state.GoOn();
    // Until the pool is confirmed, this client is the one that starts it.
    if (!node_.confirmed && !only_reads_) EndProcess(static_cast<int>(ErrorKind::kEnvironment));
  }
  ClientService(const ClientService&) = delete;
  ClientService& operator=(const ClientService&) = delete;

  void Run() {
    while (true) {
      // A client that holds something here and is stopped must not keep it from others for long.
      const bool holds = holds_still_ || !loaded_.empty() || graph_;
      auto request = client_.Receive(NowNs() + (holds ? internal::kLeaseNs : kSleepNs));
      if (!request || !*request || (*request)->empty()) return;
      if ((*request)->front() == internal::kHere) continue;
      Result<Words> answer = Do(**request);
      if (answer) answer->insert(answer->begin(), std::string(internal::kDone));
      const Status sent = client_.Send(answer ? *answer : FailureAnswer(answer.error()));
      if (ends_ && !node_.place.log.empty()) {
        static_cast<void>(RemoveFile(node_.place.log));  // a log that stays harms nobody
      }
      if (ends_) EndProcess(0);
      if (deputy_ > 0) return AwaitEndOfJob();
      if (!sent) return;
    }
  }

 private:
  Result<Words> Do(const Words& request) {
    const std::string& verb = request[0];
    const std::size_t size = request.size();
    if (only_reads_ && !internal::MayReadersAsk(verb)) {
      return EnvironmentError("is shared for reading: '{}' is for whoever has started the pool",
                              verb);
    }
    if (verb == internal::kStatus && size == 1) return ToWords(node_.state.Describe());
    if (verb == internal::kFind && size == 2) return Find(request[1]);
    if (verb == internal::kLoad && size == 5) return Load(request);
    if (verb == internal::kView && size == 3) return View(request[1], request[2]);
    if (verb == internal::kAttach && size >= 10) return Attach(request);
    if (verb == internal::kCancel && size == 2) {
      SLIM_ASSIGN(const auto jobs, node_.state.CancelJobsOf(request[1], only_reads_));
      return Words{fmt::format("{}", jobs)};
    }
    if (verb == internal::kResize && size == 3) {
      const auto compute = static_cast<NodeId>(std::strtoul(request[2].c_str(), nullptr, 10));
      SLIM_ASSIGN(const auto jobs, node_.state.ResizeJobsOf(request[1], compute, only_reads_));
      return Words{fmt::format("{}", jobs)};
    }
    if (verb == internal::kKeep && size == 1 && !loaded_.empty()) {
      SLIM_TRY(node_.state.Keep(std::exchange(loaded_, {})));
    } else if (verb == internal::kDrop && size == 2) {
      SLIM_TRY(node_.state.Drop(request[1]));
    } else if (verb == internal::kConfirm && size == 1) {
      node_.confirmed = true;
    } else if (verb == internal::kHoldStill && size == 1) {
      SLIM_TRY(node_.state.HoldStill());
      holds_still_ = true;
    } else if (verb == internal::kStop && size == 1) {
      node_.state.EndJobs();
      ends_ = true;
    } else {
      return EnvironmentError("does not know the request '{}' with {} words", verb, size - 1);
    }
    return Words{};
  }

  Result<Words> Find(const std::string& name) {
    SLIM_ASSIGN(const SharedGraph graph, node_.state.Find(name));
    return Words{graph->what.id, graph->what.facts};
  }

  Result<Words> Load(const Words& request) {
    if (!loaded_.empty()) return EnvironmentError("loads one graph at a time for a client");
    KeptGraph graph{
        .what = {.name = request[1], .id = request[2], .file = request[3], .shown = request[4]},
        .parts = {}};
    SLIM_ASSIGN(graph.what.stamp, internal::StampOfFile(graph.what.file));
    SLIM_TRY(node_.state.BeginLoad(graph.what));
    loaded_ = graph.what.name;
    auto filled = Fill(std::move(graph));
    if (!filled) node_.state.Abandon(std::exchange(loaded_, {}));
    return filled;
  }

  // The parts of loaders become those of the graph. Returns its facts, and the bytes of all parts.
  Result<Words> Fill(KeptGraph graph) {
    KeptGraphStatus& what = graph.what;
    const NodePlace& place = node_.place;
    for (NodeId copy = 0; copy < place.copies; ++copy) {
      SLIM_ASSIGN(auto part,
                  internal::RunLoader({.file = what.file,
                                       .shown = what.shown,
                                       .node = (place.node + place.nodes - copy) % place.nodes,
                                       .nodes = place.nodes,
                                       .view = what.view},
                                      client_.fd()));
      if (copy > 0 && part.facts != what.facts) {
        return InputError("{}: has changed while it was loaded: load it again", what.shown);
      }
      what.facts = part.facts;
      what.bytes += part.bytes;
      graph.parts.push_back(std::move(part.memories));
    }
    SLIM_ASSIGN(const std::string stamp, internal::StampOfFile(what.file));
    if (stamp != what.stamp && what.view.empty()) {
      return InputError("{}: has changed while it was loaded: load it again", what.shown);
    }
    if (stamp != what.stamp) {
      return InputError("{} has changed since graph '{}' was loaded: drop it, and load it again",
                        what.shown, what.name);
    }
    Words told{what.facts, fmt::format("{}", what.bytes)};
    SLIM_TRY(node_.state.HoldLoaded(std::move(graph)));
    return told;
  }

  // A view does not need a second request to be kept: a node that lacks it makes it when it is
  // asked. This connection holds the view, so that it is not dropped before a job attaches to it.
  Result<Words> View(const std::string& name, const std::string& view) {
    KeptGraph made;
    SLIM_ASSIGN(graph_, node_.state.FindOrBeginView(name, view, made.what));
    if (graph_) return Words{};
    const std::string key = NodeState::KeyOf(name, view);
    const auto filled = Fill(std::move(made));
    Status kept = filled ? node_.state.Keep(key) : Status(tl::unexpect, filled.error());
    if (!kept) {
      node_.state.Abandon(key);
      return tl::unexpected<Error>(kept.error());
    }
    SLIM_ASSIGN(graph_, node_.state.Find(key));
    return Words{};
  }

  // Starts the deputy: the slimgraph command with the job's own words. That of a reader is
  // confined, since the words can be any command.
  Result<Words> Attach(const Words& request) {
    if (only_reads_ && !CanConfine()) {
      return EnvironmentError(
          "cannot confine the deputies of readers: its system has no Landlock (Linux 5.13 or "
          "newer)");
    }
    SLIM_ASSIGN(graph_, node_.state.Find(NodeState::KeyOf(request[1], request[2])));
    if (graph_->what.id != request[3]) {
      return InputError("has another load of graph '{}' than node 0: drop it, and load it again",
                        request[1]);
    }
    const NodeId part = static_cast<NodeId>(std::strtoul(request[7].c_str(), nullptr, 10));
    const NodePlace& place = node_.place;
    const std::size_t copy = (place.node + place.nodes - part % place.nodes) % place.nodes;
    if (part >= place.nodes || copy >= graph_->parts.size()) {
      return EnvironmentError("has no copy of part {} of graph '{}'", request[7], request[1]);
    }
    const std::vector<UniqueFd>& memories = graph_->parts[copy];
    // The client's folder, which other hosts may not have.
    const bool enters = !only_reads_ && IsFolder(request[5]).value_or(false);
    ProgramToStart program{
        .words = {"/proc/self/exe"},
        .variables = {{kJoinVariable, request[4]},
                      {internal::kPartVariable,
                       internal::PartText(request[1], memories, graph_->what.facts)}},
        .folder = enters ? request[5] : "/"};
    if (only_reads_) program.variables.emplace_back(internal::kConfinedVariable, graph_->what.file);
    std::string command;
    for (std::size_t i = 10; i < request.size(); ++i) {
      program.words.push_back(request[i]);
      command += (command.empty() ? "" : " ") + request[i];
    }
    for (const UniqueFd& memory : memories) {
      program.files.emplace_back(memory.get(), memory.get());
    }
    const AttachedJobStatus job{
        .graph = request[1],
        .command = command,
        .client = request[6],
        .compute = static_cast<NodeId>(std::strtoul(request[8].c_str(), nullptr, 10)),
        .resizable = request[9] == internal::kResizable,
        .is_cache = request[9] == internal::kCache,
        .of_reader = only_reads_,
        .view = request[2]};
    SLIM_ASSIGN(asked_, Event::Make());
    SLIM_ASSIGN(job_, node_.state.AddJob(job, *asked_));
    const auto started = StartProgram(program);
    if (!started) {
      node_.state.RemoveJob(job_);
      return tl::unexpected<Error>(started.error());
    }
    deputy_ = *started;
    node_.state.SetDeputy(job_, deputy_);
    return Words{fmt::format("{}", deputy_)};
  }

  // The deputy belongs to the connection. It ends with its job by itself; it is killed if it has
  // not ended some time after the client has left.
  void AwaitEndOfJob() {
    const UniqueFd ended = WatchProcess(deputy_);
    std::array<pollfd, 3> waits{
        {{ended.get(), POLLIN, 0}, {client_.fd(), POLLIN, 0}, {asked_->fd(), POLLIN, 0}}};
    bool left = false;
    while (waits[0].revents == 0 && !left) {
      Poll(waits, kUntilWoken);
      left = waits[1].revents != 0 && ClientHasLeft();
      if (waits[2].revents == 0) continue;
      asked_->Clear();
      if (const auto compute = node_.state.TakeResize(job_)) {
        static_cast<void>(
            client_.Send({std::string(internal::kResize), fmt::format("{}", *compute)}));
      }
      if (const std::string why = node_.state.WhyUnwanted(job_); !why.empty()) {
        static_cast<void>(client_.Send({std::string(internal::kUnwanted), why}));
        ::kill(deputy_, SIGKILL);
      }
    }
    if (!AwaitReadable(ended.get(), kUntilDeputyEnds)) {
      ::kill(deputy_, SIGKILL);
      AwaitReadable(ended.get(), kUntilDeputyEnds);
    }
    graph_.reset();
    node_.state.RemoveJob(job_);
    const int code = Reap(deputy_);
    if (!left) static_cast<void>(client_.Send({fmt::format("{}", code)}));
  }

  // Hears what the client of an attached job has said since.
  bool ClientHasLeft() {
    while (client_.AwaitSomething(std::chrono::nanoseconds(0))) {
      const auto said = client_.Receive(NowNs() + internal::kAnswerNs);
      if (!said || !*said || (*said)->size() != 2) return true;
      const std::string& what = (*said)->back();
      if ((*said)->front() == internal::kKept) {
        node_.state.SetKept(job_, what);
      } else if ((*said)->front() == internal::kCached) {
        node_.state.SetCached(job_, std::strtoull(what.c_str(), nullptr, 10));
      } else {
        return true;
      }
    }
    return false;
  }

  Conversation client_;
  const bool only_reads_;
  Node& node_;
  std::string loaded_;  // the graph that this client has loaded, until it is kept
  bool holds_still_ = false;
  bool ends_ = false;
  SharedGraph graph_;  // the deputy's
  std::uint64_t job_ = 0;
  pid_t deputy_ = 0;
  std::optional<Event> asked_;  // something of the job
};

// A graph may be many memories, and each takes a descriptor.
void AllowManyFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Status ServePoolNode() {
  SLIM_ASSIGN(NodePlace place, internal::TakeNodePlace());
  AllowManyFiles();
  SLIM_ASSIGN(const std::string readers_key, KeyOfReaders(place.key));
  SLIM_ASSIGN(const auto key, HandshakeKey::Derive(place.key, internal::kPoolPurpose));
  SLIM_ASSIGN(const auto key_of_readers, HandshakeKey::Derive(readers_key, internal::kPoolPurpose));
  const std::array secrets{place.key, readers_key};
  const std::array keys{key, key_of_readers};
  const std::uint64_t memory_bytes = place.memory_bytes;
  const std::shared_ptr<Node> node(
      new Node{std::move(place), secrets, keys, NodeState(memory_bytes)});
  Newcomers newcomers(internal::kPoolListener, {keys.begin(), keys.end()}, kMaxStrangersOfPool);
  const std::uint64_t give_up_ns = NowNs() + kUntilConfirmedNs;
  while (true) {
    SLIM_ASSIGN(auto member, newcomers.Next(node->confirmed ? NowNs() + kSleepNs : give_up_ns));
    if (!member && !node->confirmed && NowNs() >= give_up_ns) {
      return EnvironmentError("the command that starts the pool has ended");
    }
    if (!member) continue;
    if (member->hello.node != node->place.node) {
      Newcomers::Refuse(member->fd, fmt::format("it is node {}", node->place.node));
    } else if (node->clients >= kMaxClients) {
      Newcomers::Refuse(member->fd, "it has too many clients");
    } else {
      ++node->clients;
      const auto shared = std::make_shared<Newcomers::Member>(*std::move(member));
      Thread([node, shared] {
        const std::size_t known = shared->key;
        auto client =
            Conversation::Accept(std::move(*shared), node->keys[known], node->secrets[known]);
        if (client) ClientService(*std::move(client), /*only_reads=*/known == 1, *node).Run();
        --node->clients;
      }).detach();
    }
  }
}

}  // namespace slimgraph
