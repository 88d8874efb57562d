#include "slimgraph/pool/cache_agent.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "slimgraph/base/child_process.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/crypto.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/base/local_sockets.h"
#include "slimgraph/base/passed_files.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/fabric.h"
#include "slimgraph/launch/place.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/pool/internal/block_fetcher.h"

namespace slimgraph {
namespace {

using internal::BlockFetcher;

// Of an agent: POOL GRAPH VIEW ID HOST-OF.
constexpr const char* kCacheVariable = "SLIMGRAPH_CACHE";
constexpr std::string_view kNone = "-";
constexpr int kListener = 3;
constexpr int kBacklog = 256;
// Between reports of what is kept, and between signs of life.
constexpr std::chrono::milliseconds kSoon{500};
static_assert(kSoon < kCacheSignOfLife);

// One job that uses the cache.
struct Client {
  explicit Client(UniqueFd fd) : socket(std::move(fd)) {}
  UniqueFd socket;  // non-blocking
};
struct Question {
  std::shared_ptr<Client> client;
  CacheQuestion question;
  std::vector<BlockRange> ranges;
};
// A question that is not answered yet.
struct Owed {
  std::shared_ptr<Client> client;
  std::uint64_t number;
  std::shared_ptr<BlockFetcher::Request> request;
};

class Agent {
 public:
  Agent(Fabric& fabric, Attachment& attachment, std::unique_ptr<HostCacheMemory> memory,
        std::vector<RegionId> regions, std::uint64_t room_bytes)
      : endpoint_(fabric.endpoint(0)),
        attachment_(attachment),
        memory_(std::move(memory)),
        fetcher_(endpoint_, *memory_, /*first_lender=*/1, std::move(regions), room_bytes) {}

  // Returns only an error.
  Status Serve() {
    Thread([this] { Accept(); }).detach();
    std::vector<Completion> ended;
    while (true) {
      for (const Question& question : TakeQuestions()) Begin(question);
      endpoint_.Ring();
      ended.clear();
      const bool news = endpoint_.Poll(ended) > 0;
      for (const Completion& completion : ended) SLIM_TRY(fetcher_.Finish(completion));
      AnswerWhatIsDone();
      SayWhatIsKept();
      if (news) continue;
      const bool has_told = fetcher_.used_bytes() == told_bytes_;
      endpoint_.Wait(owed_.empty() && has_told ? kUntilWoken : kSoon);
      SendSignsOfLife();
    }
  }

 private:
  void Accept() {
    while (true) {
      AwaitReadable(kListener, kUntilWoken);
      auto client = std::make_shared<Client>(slimgraph::Accept(kListener, SOCK_NONBLOCK));
      const int fd = client->socket.get();
      if (fd < 0 || PeerOfThisUser(fd) == 0 || !PassFiles(fd, "cache", {memory_->fd()})) continue;
      Thread([this, client] { Listen(client); }).detach();
    }
  }

  // Takes questions until the client is gone or sends something else.
  void Listen(const std::shared_ptr<Client>& client) {
    constexpr std::size_t kMost = sizeof(CacheQuestion) + kMaxCacheRanges * sizeof(BlockRange) + 1;
    std::vector<std::byte> message(kMost);
    while (true) {
      AwaitReadable(client->socket.get(), kUntilWoken);
      const ssize_t got = ReceiveBytes(client->socket.get(), message);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      Question asked{.client = client, .question = {}, .ranges = {}};
      const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
      if (bytes < sizeof(CacheQuestion)) break;
      std::memcpy(&asked.question, message.data(), sizeof(CacheQuestion));
      if (bytes != sizeof(CacheQuestion) + asked.question.ranges * sizeof(BlockRange)) break;
      asked.ranges.resize(asked.question.ranges);
      std::memcpy(asked.ranges.data(), message.data() + sizeof(CacheQuestion),
                  bytes - sizeof(CacheQuestion));
      if (!IsInRange(asked)) break;
      const std::lock_guard lock(mutex_);
      questions_.push_back(std::move(asked));
      endpoint_.Wake();
    }
    ShutDown(client->socket.get());
  }

  bool IsInRange(const Question& asked) const {
    if (asked.question.lender >= memory_->lenders()) return false;
    for (const BlockRange& range : asked.ranges) {
      if (range.memory >= memory_->memories() || range.blocks == 0) return false;
      const std::uint64_t bytes = memory_->bytes(asked.question.lender, range.memory);
      if (range.first > bytes || (range.first + range.blocks - 1) * kBlockBytes >= bytes) {
        return false;
      }
    }
    return true;
  }

  std::deque<Question> TakeQuestions() {
    const std::lock_guard lock(mutex_);
    return std::exchange(questions_, {});
  }

  void Begin(const Question& question) {
    const auto request = std::make_shared<BlockFetcher::Request>();
    for (const BlockRange& range : question.ranges) {
      fetcher_.Begin(request, question.question.lender, range);
    }
    owed_.push_back({question.client, question.question.number, request});
  }

  // A client that does not read is not waited for: it gives up the cache.
  static void Send(const Owed& owed, const CacheAnswer& answer) {
    static_cast<void>(SendBytes(owed.client->socket.get(), std::as_bytes(std::span(&answer, 1))));
  }

  void AnswerWhatIsDone() {
    std::erase_if(owed_, [](const Owed& owed) {
      const BlockFetcher::Request& request = *owed.request;
      if (request.under_way > 0) return false;
      Send(owed, {.number = owed.number,
                  .bytes = request.bytes,
                  .reads = request.reads,
                  .served = request.refused ? 0U : 1U});
      return true;
    });
  }

  void SendSignsOfLife() {
    for (const Owed& owed : owed_) Send(owed, {});
  }

  // Tells the pool's nodes, which show it.
  void SayWhatIsKept() {
    const std::uint64_t now = NowNs();
    if (fetcher_.used_bytes() == told_bytes_ || now < tell_at_ns_) return;
    told_bytes_ = fetcher_.used_bytes();
    tell_at_ns_ = now + std::chrono::nanoseconds(kSoon).count();
    attachment_.TellCached(told_bytes_);
  }

  static constexpr std::uint64_t kBlockBytes = HostCacheMemory::kBlockBytes;
  Endpoint& endpoint_;
  Attachment& attachment_;
  std::unique_ptr<HostCacheMemory> memory_;
  BlockFetcher fetcher_;
  std::vector<Owed> owed_;
  std::uint64_t told_bytes_ = 0;
  std::uint64_t tell_at_ns_ = 0;
  Mutex mutex_;
  std::deque<Question> questions_;  // guarded by mutex_
};

// On all nodes of an agent's job, which share the memories of the deputies.
Status ServeInJob(Job& job, std::span<const std::unique_ptr<SharedMemory>> memories,
                  Attachment* attachment, std::uint64_t room_bytes) {
  SLIM_ASSIGN(const auto counts, job.Exchange(fmt::format("{}", memories.size())));
  const std::size_t count = std::stoul(counts.back());
  SLIM_ASSIGN(const auto fabric, Fabric::Open(job, {.transport = "tcp"}));
  std::vector<RegionId> regions;
  for (std::size_t i = 0; i < count; ++i) {
    const SharedMemory* const memory = i < memories.size() ? memories[i].get() : nullptr;
    SLIM_ASSIGN(const SharedRegion region, fabric->ShareStanding(memory, i));
    regions.push_back(region.id);
  }
  if (attachment == nullptr) return job.Exchange("").map([](const auto&) {});
  std::vector<std::vector<std::uint64_t>> sizes;
  for (NodeId node = 1; node < job.nodes(); ++node) {
    std::vector<std::uint64_t>& of_node = sizes.emplace_back();
    for (const RegionId region : regions) of_node.push_back(fabric->region_bytes(node, region));
  }
  SLIM_ASSIGN(auto memory, HostCacheMemory::Make(sizes));
  Agent agent(*fabric, *attachment, std::move(memory), std::move(regions), room_bytes);
  return agent.Serve();
}

Status ServeDeputy(const Place& place) {
  SLIM_ASSIGN(const auto part, TakeStandingPart());
  if (!part) return UsageError("{} is started by a pool, not by hand", kPoolCacheCommand);
  SLIM_ASSIGN(const auto job, Job::Join(place.Config(), OnLoss::kEndJob));
  const Status served = ServeInJob(*job, part->memories, nullptr, 0);
  while (!served) ::pause();  // the control thread ends this process
  return job->Leave(0);
}

Status ServeAgent(const CachedGraph& graph) {
  SLIM_ASSIGN(const PoolDescriptor pool, ReadDescriptor(graph.pool));
  const auto view_of = [&](const std::string&) -> Result<std::string> { return graph.view; };
  SLIM_ASSIGN(const auto attachment, Attachment::Make({.pool = graph.pool,
                                                       .graph = graph.graph,
                                                       .view_of = view_of,
                                                       .in_place = {.only = graph.host_of},
                                                       .is_cache = true,
                                                       .words = {kPoolCacheCommand}}));
  if (attachment->facts().id != graph.id) {
    return InputError("graph '{}' was dropped meanwhile", graph.graph);
  }
  JoinConfig config = attachment->TakeConfig();
  // Whoever drops the graph or stops the pool knows why the agent ends.
  config.before_end = [&](NodeId, const std::string&) {
    if (!attachment->WhyUnwanted().empty()) EndProcess(0);
    return std::string();
  };
  SLIM_ASSIGN(const auto job, Job::Join(std::move(config), OnLoss::kEndJob));
  const Status served = ServeInJob(*job, {}, attachment.get(), pool.host_cache_bytes);
  job->Fail(served.error());
  while (true) ::pause();
}

}  // namespace

std::string FindCacheAgent(const PoolDescriptor& pool, const CachedGraph& graph,
                           const std::string& program) {
  // Nobody else can guess the name, since the key is secret.
  const std::string host = graph.host_of ? fmt::format("/{}", *graph.host_of) : "";
  const CryptoKey hash =
      HashOf({"slimgraph host cache", pool.key, graph.graph, "/", graph.view, "/", graph.id, host});
  std::string name = "slimgraph-cache-";
  for (const std::byte byte : std::span(hash).first(16)) {
    name += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  const UniqueFd listener = ListenLocally(name, kBacklog);
  if (!listener) return errno == EADDRINUSE ? name : "";
  const auto folder = PoolsFolder();
  const std::string log = folder ? LogPath(*folder, pool.name) : "";
  const bool has_log = folder && Exists(log).value_or(false);
  const std::string view = graph.view.empty() ? std::string(kNone) : graph.view;
  const std::string host_of =
      graph.host_of ? fmt::format("{}", *graph.host_of) : std::string(kNone);
  const auto started = StartProgram(
      {.words = {program, kPoolCacheCommand},
       .variables = {{kCacheVariable, fmt::format("{} {} {} {} {}", graph.pool, graph.graph, view,
                                                  graph.id, host_of)}},
       .input = "/dev/null",
       .output = has_log ? log : "/dev/null",
       .files = {{listener.get(), kListener}, {STDOUT_FILENO, STDERR_FILENO}},
       .close_from = kListener + 1,
       .folder = "/",
       .new_session = true});
  return started ? name : "";
}

Status ServePoolCache() {
  SLIM_ASSIGN(const auto place, TakePlace());
  if (place) return ServeDeputy(*place);
  const char* const set = std::getenv(kCacheVariable);
  const std::string text = set == nullptr ? "" : set;
  ::unsetenv(kCacheVariable);
  const auto words = Split(text, ' ');
  if (words.size() != 5 || ::fcntl(kListener, F_SETFD, FD_CLOEXEC) != 0) {
    return UsageError("{} is started by a job on a pool, not by hand", kPoolCacheCommand);
  }
  std::optional<NodeId> host_of;
  if (words[4] != kNone) {
    host_of = static_cast<NodeId>(std::strtoul(std::string(words[4]).c_str(), nullptr, 10));
  }
  return ServeAgent({.pool = std::string(words[0]),
                     .graph = std::string(words[1]),
                     .view = words[2] == kNone ? "" : std::string(words[2]),
                     .id = std::string(words[3]),
                     .host_of = host_of});
}

}  // namespace slimgraph
