// Reads through the cache of a host, with agents that answer late, in another order, not at all, or
// die.
#include "slimgraph/fabric/host_cache.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/local_sockets.h"
#include "slimgraph/base/passed_files.h"
#include "slimgraph/base/sockets.h"
#include "tests/fabric/conformance.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

constexpr NodeId kCachingNodes = 3;
constexpr NodeId kLenders = 2;  // nodes 1 and 2
constexpr std::uint64_t kCachedBytes[] = {100'001, 512};
constexpr std::size_t kMemories = std::size(kCachedBytes);

std::vector<std::byte> Content(std::size_t lender, std::size_t memory, std::uint64_t seed) {
  return Pattern(kCachedBytes[memory], seed + 10 * lender + memory);
}

TEST(HostCacheMemory, HasWhatWasPublished) {
  std::mt19937_64 random(TestSeed());
  const std::vector<std::vector<std::uint64_t>> sizes{{70'000, 0, 1}, {512 * 64, 511, 512 * 65}};
  const auto filled = Unwrap(HostCacheMemory::Make(sizes));
  const auto seen = Unwrap(HostCacheMemory::Adopt(UniqueFd(::dup(filled->fd()))));
  ASSERT_EQ(seen->lenders(), 2U);
  ASSERT_EQ(seen->memories(), 3U);
  std::map<std::pair<std::size_t, std::size_t>, std::vector<bool>> expected;
  for (int step = 0; step < 2000; ++step) {
    const std::size_t lender = random() % 2;
    const std::size_t memory = random() % 3;
    const std::uint64_t bytes = sizes[lender][memory];
    EXPECT_EQ(seen->bytes(lender, memory), bytes);
    if (bytes == 0) continue;
    const std::uint64_t offset = random() % bytes;
    const std::uint64_t length = 1 + random() % std::min<std::uint64_t>(bytes - offset, 5000);
    const BlockRange range = HostCacheMemory::BlocksOf(memory, offset, length);
    EXPECT_EQ(range.first, offset / 512);
    EXPECT_EQ(range.first + range.blocks - 1, (offset + length - 1) / 512);
    auto& there = expected[{lender, memory}];
    there.resize(bytes / 512 + 1);
    bool all = true;
    for (std::uint64_t i = 0; i < range.blocks; ++i) all = all && there[range.first + i];
    EXPECT_EQ(seen->Has(lender, range), all);
    if (random() % 8 != 0) continue;
    const MutableBytes space = filled->Space(lender, range);
    EXPECT_LE(range.first * 512 + space.size(), bytes);
    std::memset(space.data(), step, space.size());
    filled->Publish(lender, range);
    for (std::uint64_t i = 0; i < range.blocks; ++i) there[range.first + i] = true;
    EXPECT_EQ(*seen->At(lender, memory, offset), static_cast<std::byte>(step));
  }
  EXPECT_FALSE(seen->full());
  filled->SetFull();
  EXPECT_TRUE(seen->full());
  EXPECT_DEATH(*const_cast<std::byte*>(seen->At(0, 0, 0)) = std::byte{1}, "");
  // Sealed: nobody else can map it for writing.
  EXPECT_FALSE(
      Unwrap(SharedMemory::Open(fmt::format("/proc/{}/fd/{}:{}", ::getpid(), filled->fd(), 4096)))
          ->writable());
}

// What an agent does wrong.
struct AgentFaults {
  int refused_percent = 0;
  std::uint64_t dies_after = ~std::uint64_t{0};  // questions
  bool is_silent = false;
  std::uint64_t more_bytes = 0;  // in the sizes of its memories
};

// An agent in a thread of the test, for one client.
class TestAgent {
 public:
  TestAgent(const std::string& name, std::uint64_t seed, const AgentFaults& faults)
      : seed_(seed), faults_(faults), listener_(ListenLocally(name, 4)) {
    EXPECT_TRUE(listener_);
    std::vector<std::vector<std::uint64_t>> sizes(kLenders, {kCachedBytes[0], kCachedBytes[1]});
    sizes[0][0] += faults.more_bytes;
    memory_ = Unwrap(HostCacheMemory::Make(sizes));
    thread_ = Thread([this] { Serve(); });
  }
  ~TestAgent() { thread_.join(); }

  std::uint64_t questions() const { return questions_; }
  // How many ranges of this memory were asked for.
  std::uint64_t asked(std::size_t memory) const { return asked_[memory]; }

 private:
  void Serve() {
    AwaitReadable(listener_.get(), std::chrono::seconds(20));
    const UniqueFd client = Accept(listener_.get());
    if (!client) return;
    EXPECT_EQ(PeerOfThisUser(client.get()), ::getpid());
    Unwrap(PassFiles(client.get(), "cache", {memory_->fd()}));
    std::mt19937_64 random(seed_);
    std::vector<std::vector<std::byte>> held;  // questions
    while (true) {
      const bool more =
          AwaitReadable(client.get(), std::chrono::milliseconds(held.empty() ? 1000 : 1));
      std::vector<std::byte> question(64 << 10);
      const ssize_t got = more ? ::recv(client.get(), question.data(), question.size(), 0) : -1;
      if (more && got <= 0) return;
      if (got > 0) {
        if (++questions_ > faults_.dies_after) return;
        question.resize(static_cast<std::size_t>(got));
        held.push_back(std::move(question));
      }
      if (held.empty() || faults_.is_silent || (more && random() % 3 != 0)) continue;
      std::swap(held[random() % held.size()], held.back());
      Answer(client.get(), held.back(),
             random() % 100 < static_cast<unsigned>(faults_.refused_percent));
      held.pop_back();
    }
  }

  void Answer(int client, const std::vector<std::byte>& message, bool refuses) {
    CacheQuestion question;
    std::memcpy(&question, message.data(), sizeof question);
    ASSERT_EQ(message.size(), sizeof question + question.ranges * sizeof(BlockRange));
    CacheAnswer answer{.number = question.number, .served = refuses ? 0U : 1U};
    for (std::uint32_t i = 0; i < question.ranges && !refuses; ++i) {
      BlockRange range;
      std::memcpy(&range, message.data() + sizeof question + i * sizeof range, sizeof range);
      ++asked_[range.memory];
      const MutableBytes space = memory_->Space(question.lender, range);
      const auto content = Content(question.lender, range.memory, seed_);
      std::memcpy(space.data(), content.data() + range.first * 512, space.size());
      memory_->Publish(question.lender, range);
      answer.bytes += space.size();
      ++answer.reads;
    }
    ::send(client, &answer, sizeof answer, MSG_NOSIGNAL);
  }

  std::uint64_t seed_;
  AgentFaults faults_;
  UniqueFd listener_;
  std::unique_ptr<HostCacheMemory> memory_;
  std::atomic<std::uint64_t> questions_{0};
  std::atomic<std::uint64_t> asked_[kMemories]{};
  Thread thread_;
};

// Random reads of node 0 in flight, some of them of memory that is not standing, are right and end
// in order on each node.
void ReadAtRandom(Fabric& fabric, const std::vector<SharedRegion>& standing,
                  const SharedRegion& other, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  struct Read {
    NodeId node = 0;
    std::vector<std::byte> into;
    std::vector<std::byte> expected;
  };
  Endpoint& endpoint = fabric.endpoint(0);
  std::vector<Read> reads(3000);
  std::vector<std::uint64_t> next(kCachingNodes);  // by node: the smallest tag that may come
  std::size_t ended = 0;
  const auto poll = [&] {
    std::vector<Completion> completions;
    endpoint.Poll(completions);
    for (const Completion& one : completions) {
      EXPECT_EQ(one.outcome, Outcome::kOk);
      const Read& read = reads[one.tag];
      EXPECT_GE(one.tag, next[read.node]);
      next[read.node] = one.tag + 1;
      EXPECT_EQ(read.into, read.expected) << "read " << one.tag;
      ++ended;
    }
  };
  for (std::uint64_t i = 0; i < reads.size(); ++i) {
    Read& read = reads[i];
    read.node = 1 + random() % kLenders;
    const bool is_other = random() % 10 == 0;
    const std::size_t memory = random() % kMemories;
    const std::vector<std::byte> all =
        is_other ? Pattern(4096, seed + read.node) : Content(read.node - 1, memory, seed);
    const std::uint64_t offset = random() % all.size();
    const std::uint64_t length = random() % std::min<std::uint64_t>(3000, all.size() - offset);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(offset);
    read.expected.assign(begin, begin + static_cast<std::ptrdiff_t>(length));
    read.into.resize(length);
    endpoint.Read(read.node, is_other ? other.id : standing[memory].id, offset, read.into, i);
    if (random() % 4 == 0) endpoint.Ring();
    while (random() % 2 == 0) poll();
  }
  endpoint.Ring();
  while (ended < reads.size()) {
    ASSERT_TRUE(endpoint.Wait(std::chrono::seconds(20))) << ended;
    poll();
  }
  EXPECT_EQ(endpoint.outstanding(), 0U);
}

// Runs ReadAtRandom() with such an agent.
void RunWith(const AgentFaults& faults,
             const std::function<void(const TestAgent&, Endpoint&)>& look) {
  const std::uint64_t seed = TestSeed();
  const std::string name = fmt::format("slimgraph-test-{}-{}", ::getpid(), seed);
  const auto body = [&](Job& job) {
    std::optional<TestAgent> agent;
    if (job.self() == 0) agent.emplace(name, seed, faults);
    std::vector<std::unique_ptr<SharedMemory>> memories;
    auto fabric = Unwrap(Fabric::Open(job, {.transport = "tcp"}));
    std::vector<SharedRegion> standing;
    for (std::size_t i = 0; i < kMemories; ++i) {
      if (job.self() > 0) {
        memories.push_back(Unwrap(SharedMemory::Create(kCachedBytes[i])));
        const auto content = Content(job.self() - 1, i, seed);
        std::memcpy(memories[i]->base(), content.data(), content.size());
        Unwrap(memories[i]->Seal());
      }
      const SharedMemory* const memory = job.self() > 0 ? memories[i].get() : nullptr;
      standing.push_back(Unwrap(fabric->ShareStanding(memory, i)));
    }
    const SharedRegion other = Unwrap(fabric->Share(job.self() > 0 ? 4096 : 0));
    const auto content = Pattern(4096, seed + job.self());
    if (job.self() > 0) std::memcpy(other.memory.data(), content.data(), content.size());
    ASSERT_TRUE(job.Exchange(""));
    if (job.self() == 0) {
      ReadAtRandom(*fabric, standing, other, seed);
      look(*agent, fabric->endpoint(0));
    }
    ASSERT_TRUE(job.Exchange(""));
    EXPECT_TRUE(fabric->Close());
    fabric.reset();  // also the connection to the agent, which then ends
  };
  ExpectNodesRun(kCachingNodes, body, 60, {.quota = {.first_lender = 1}, .host_cache = name});
}

TEST(HostCache, ServesReadsInOrder) {
  RunWith({}, [](const TestAgent& agent, Endpoint&) { EXPECT_GT(agent.questions(), 10U); });
}

TEST(HostCache, CanRefuse) {
  RunWith({.refused_percent = 50},
          [](const TestAgent& agent, Endpoint&) { EXPECT_GT(agent.questions(), 10U); });
}

TEST(HostCache, CanDie) {
  RunWith({.dies_after = 20},
          [](const TestAgent& agent, Endpoint&) { EXPECT_EQ(agent.questions(), 21U); });
}

TEST(HostCache, CanFallSilent) {
  const std::uint64_t start_ns = NowNs();
  RunWith({.is_silent = true},
          [](const TestAgent& agent, Endpoint&) { EXPECT_GT(agent.questions(), 0U); });
  EXPECT_GT(SecondsSince(start_ns), 4);
}

TEST(HostCache, OfOtherMemoryIsNotUsed) {
  // The small memory is the same, and is used.
  RunWith({.more_bytes = 1}, [](const TestAgent& agent, Endpoint&) {
    EXPECT_EQ(agent.asked(0), 0U);
    EXPECT_GT(agent.asked(1), 0U);
  });
}

TEST(HostCache, ThatIsNotThereIsNoError) {
  EXPECT_EQ(HostCache::Connect("slimgraph-no-agent", 1), nullptr);
  EXPECT_EQ(HostCache::Connect(std::string(200, 'x'), 1), nullptr);
  // Something else that listens there.
  const std::string name = fmt::format("slimgraph-test-{}-{}", ::getpid(), TestSeed());
  const UniqueFd listener = ListenLocally(name, 4);
  EXPECT_FALSE(ListenLocally(name, 4));
  Thread other([&] {
    AwaitReadable(listener.get(), std::chrono::seconds(20));
    const UniqueFd client = Accept(listener.get());
    ::send(client.get(), "hello", 5, MSG_NOSIGNAL);
  });
  EXPECT_EQ(HostCache::Connect(name, 1), nullptr);
  other.join();
}

}  // namespace
}  // namespace slimgraph
