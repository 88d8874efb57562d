// Random faults: every operation completes exactly once, and only operations that are reported as
// successful are executed. No message arrives twice, corrupted or out of order. Nothing is left
// behind.

#include <cstdlib>
#include <cstring>
#include <set>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "slimgraph/launch/started_by.h"
#include "tests/fabric/conformance.h"
#include "tests/support/segments.h"

namespace slimgraph {
namespace {

using namespace std::chrono_literals;

constexpr NodeId kNodes = 3;
constexpr std::size_t kSlotBytes = 16 << 10;
constexpr HandlerId kNumberedAmongFaults = 7;
constexpr HandlerId kLast = 8;
constexpr std::uint32_t kNeverArrives = ~0U;

int FaultsWanted() {
  const char* const given = std::getenv("TEST_FAULTS");
  return given == nullptr ? 1000 : std::atoi(given);
}

// One node of a job. It has a slot in every other node's region, and knows what each slot must
// contain.
class Player {
 public:
  Player(Job& job, Fabric& fabric, std::uint64_t seed)
      : job_(job),
        endpoint_(fabric.endpoint(0)),
        region_(fabric.Share(kSlotBytes * kNodes)->id),
        random_(seed * 31 + job.self()),
        slots_(kNodes, std::vector<std::byte>(kSlotBytes)),
        next_to_(kNodes),
        next_from_(kNodes),
        cuts_of_(kNodes) {
    numbered_ = fabric.SetHandler(kNumberedAmongFaults,
                                  [this](Endpoint&, const Message& m) { Receive(m); });
    last_ = fabric.SetHandler(kLast, [this](Endpoint&, const Message& m) {
      Receive(m);
      ++last_came_;
    });
  }

  // Rings a few doorbells and sends messages while one kind of fault is injected.
  void PlayRound() {
    const NodeId hurt = AnyOther();
    bool cut_later = false;
    switch (random_() % 5) {
      case 0:
        endpoint_.faults().Delay(hurt, std::chrono::microseconds(random_() % 3000));
        break;
      case 1:
        endpoint_.faults().LoseAtRandom(0.5, random_());
        break;
      case 2:
        endpoint_.faults().FailAtRandom(0.7, random_());
        break;
      case 3:
        Cut(hurt);
        break;
      default:
        cut_later = true;
    }
    Collect();
    SendSome();
    endpoint_.Ring();
    if (cut_later) Cut(hurt);
    EndRound();
  }

  // Compares the slots with what they must contain, when nothing is outstanding any more.
  void CheckSlots() {
    for (NodeId node = 0; node < kNodes; ++node) {
      if (node == job_.self()) continue;
      std::vector<std::byte> found(kSlotBytes);
      endpoint_.Read(node, region_, Slot(), found);
      EXPECT_EQ(endpoint_.Flush(), Outcome::kOk);
      EXPECT_TRUE(found == slots_[node]) << "wrong bytes on node " << node;
    }
  }

  // Handles messages until the last message of every node has arrived.
  void TakeLeave() {
    BarrierWhileServing(job_, endpoint_);
    for (NodeId node = 0; node < kNodes; ++node) {
      if (node != job_.self()) SendTo(node, kLast);
    }
    EXPECT_TRUE(endpoint_.WaitUntil([&] { return last_came_ == kNodes - 1; }, 30s));
    BarrierWhileServing(job_, endpoint_);
  }

  // Sends traffic to `node` until it is found to be dead.
  void PlayUntilDead(NodeId node) {
    Outcome outcome = Outcome::kOk;
    const std::uint64_t start_ns = NowNs();
    while (outcome == Outcome::kOk && SecondsSince(start_ns) < 30) {
      CollectFor(node, 8);
      if (random_() % 4 == 0) endpoint_.Send({node, 0}, kNumberedAmongFaults, {});
      outcome = endpoint_.Flush();
      plan_.clear();
    }
    EXPECT_EQ(outcome, Outcome::kPeerLost) << OutcomeName(outcome);
    EXPECT_TRUE(endpoint_.WaitUntil([&] { return !job_.alive(node); }, 10s));
  }
  void DieInTheMiddle() {
    for (std::uint64_t left = random_() % 20;; --left) {
      for (const NodeId node : {AnyOther(), AnyOther()}) CollectFor(node, 8);
      endpoint_.Ring();
      if (left == 0) KillProcess();
      endpoint_.Flush();
      plan_.clear();
    }
  }

 private:
  struct Planned {
    Operation operation;
    std::vector<std::byte> bytes;  // data to write, or the destination of a read
    std::uint64_t old_value = 0;
  };

  NodeId AnyOther() {
    return (job_.self() + 1 + static_cast<NodeId>(random_() % (kNodes - 1))) % kNodes;
  }
  std::uint64_t Slot() const { return kSlotBytes * job_.self(); }
  void Cut(NodeId node) {
    endpoint_.faults().Cut(node);
    ++cuts_of_[node];
    cut_ = node;
  }

  void Collect() {
    for (int doorbells = 0; doorbells < 2; ++doorbells) CollectFor(AnyOther(), 1 + random_() % 20);
  }

  // The first two words of the slot are for atomics.
  void CollectFor(NodeId node, std::uint64_t count) {
    for (; count > 0; --count) {
      Planned& planned = plan_.emplace_back();
      const std::uint64_t offset = 16 + random_() % (kSlotBytes - 16);
      const std::uint64_t bytes = random_() % (kSlotBytes - offset + 1);
      const std::uint64_t tag = plan_.size() - 1;
      Operation& operation = planned.operation;
      operation = {.kind = static_cast<OperationKind>(random_() % 4), .node = node};
      switch (operation.kind) {
        case OperationKind::kRead:
          operation.offset = offset;
          planned.bytes.resize(bytes);
          endpoint_.Read(node, region_, Slot() + offset, AsBytes(planned.bytes), tag);
          break;
        case OperationKind::kWrite:
          operation.offset = offset;
          planned.bytes = Pattern(bytes, random_());
          endpoint_.Write(node, region_, Slot() + offset, planned.bytes, tag);
          break;
        case OperationKind::kCompareSwap:
          operation.expected = WordOf(node, 0) + random_() % 2;
          operation.operand = random_();
          endpoint_.CompareSwap(node, region_, Slot(), operation.expected, operation.operand,
                                &planned.old_value, tag);
          break;
        case OperationKind::kFetchAdd:
          operation.operand = random_();
          endpoint_.FetchAdd(node, region_, Slot() + 8, operation.operand, &planned.old_value, tag);
          break;
      }
    }
  }

  std::uint64_t WordOf(NodeId node, std::size_t index) const {
    std::uint64_t word;
    std::memcpy(&word, slots_[node].data() + 8 * index, sizeof word);
    return word;
  }
  void SetWord(NodeId node, std::size_t index, std::uint64_t word) {
    std::memcpy(slots_[node].data() + 8 * index, &word, sizeof word);
  }

  // Compares the outcomes with what they must be, in the order of the doorbells.
  void EndRound() {
    std::vector<int> times(plan_.size());
    std::vector<Outcome> outcomes(plan_.size());
    for (const Completion& completion : Complete(endpoint_)) {
      ++times.at(completion.tag);
      outcomes[completion.tag] = completion.outcome;
    }
    endpoint_.faults().Clear();
    std::set<NodeId> unsure;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      EXPECT_EQ(times[i], 1) << "completions of operation " << i;
      if (outcomes[i] == Outcome::kOk) {
        Apply(plan_[i]);
      } else if (cut_ && plan_[i].operation.node == *cut_) {
        unsure.insert(*cut_);
      } else {
        EXPECT_TRUE(outcomes[i] == Outcome::kFailed || outcomes[i] == Outcome::kFlushed)
            << OutcomeName(outcomes[i]);
      }
    }
    plan_.clear();
    cut_.reset();
    for (const NodeId node : unsure) {
      slots_[node] = Pattern(kSlotBytes, random_());
      endpoint_.Write(node, region_, Slot(), slots_[node]);
    }
    EXPECT_EQ(endpoint_.Flush(), Outcome::kOk);
  }

  void Apply(const Planned& planned) {
    const Operation& operation = planned.operation;
    std::byte* const place = slots_[operation.node].data() + operation.offset;
    switch (operation.kind) {
      case OperationKind::kRead:
        EXPECT_TRUE(std::equal(planned.bytes.begin(), planned.bytes.end(), place));
        break;
      case OperationKind::kWrite:
        std::copy(planned.bytes.begin(), planned.bytes.end(), place);
        break;
      case OperationKind::kCompareSwap:
        EXPECT_EQ(planned.old_value, WordOf(operation.node, 0));
        if (planned.old_value == operation.expected) SetWord(operation.node, 0, operation.operand);
        break;
      case OperationKind::kFetchAdd:
        EXPECT_EQ(planned.old_value, WordOf(operation.node, 1));
        SetWord(operation.node, 1, planned.old_value + operation.operand);
        break;
    }
  }

  void SendSome() {
    for (std::uint64_t left = random_() % 4; left > 0; --left) SendTo(AnyOther());
  }
  void SendTo(NodeId node, HandlerId handler = kNumberedAmongFaults) {
    const bool vanishes = cut_ == node;
    const std::uint32_t number = vanishes ? kNeverArrives : next_to_[node]++;
    auto body = Pattern(sizeof number + random_() % 9000, number);
    std::memcpy(body.data(), &number, sizeof number);
    endpoint_.Send({node, 0}, handler, body);
  }
  void Receive(const Message& message) {
    if (message.body.empty()) return;
    std::uint32_t number;
    std::memcpy(&number, message.body.data(), sizeof number);
    const NodeId from = message.from.node;
    EXPECT_NE(number, kNeverArrives) << "from node " << from;
    EXPECT_GE(number, next_from_[from]) << "twice from node " << from;
    if (number > next_from_[from]) {
      EXPECT_GT(cuts_of_[from]--, 0) << "lost from node " << from;
    }
    next_from_[from] = number + 1;
    auto wanted = Pattern(message.body.size(), number);
    std::memcpy(wanted.data(), &number, sizeof number);
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), message.body.begin()));
  }

  Job& job_;
  Endpoint& endpoint_;
  const RegionId region_;
  std::mt19937_64 random_;
  std::vector<std::vector<std::byte>> slots_;  // by node
  std::deque<Planned> plan_;                   // by tag
  std::optional<NodeId> cut_;
  std::vector<std::uint32_t> next_to_;
  std::vector<std::uint32_t> next_from_;
  HandlerRegistration numbered_;
  HandlerRegistration last_;
  std::vector<int> cuts_of_;  // by node: each cut may lose one run of consecutive messages
  std::uint32_t last_came_ = 0;
};

class RandomFaults : public FabricConformance {
 protected:
  void SetUp() override {
    FabricConformance::SetUp();
    before_ = Segments(transport());
  }
  void TearDown() override {
    if (StartedBy() == Starter::kPmi) return;  // the node has not ended yet
    EXPECT_EQ(SegmentsLeftSince(before_, transport()), "");
  }

 private:
  std::set<std::string> before_;
};
INSTANTIATE_TEST_SUITE_P(All, RandomFaults,
                         ::testing::Values(Setting{"shm", kNodes}, Setting{"tcp", kNodes},
                                           Setting{"mpi", kNodes}, Setting{"verbs", kNodes}),
                         NameOfSetting);

TEST_P(RandomFaults, DelayLossFailureAndCutDoNoHarm) {
  const int rounds = FaultsWanted() / static_cast<int>(kNodes) + 1;
  if (StartedBy() != Starter::kPmi) {
    fmt::print("  {} faults, SLIMGRAPH_TEST_SEED={}\n", rounds * int{kNodes}, TestSeed());
  }
  OnEveryNode(
      [=](Job& job, Fabric& fabric) {
        Player player(job, fabric, TestSeed());
        ASSERT_TRUE(job.Exchange(""));
        for (int round = 0; round < rounds; ++round) player.PlayRound();
        player.TakeLeave();
        player.CheckSlots();
      },
      {}, 240);
}

// mpiexec is slow, and a test can run only one job with it.
TEST_P(RandomFaults, DeathInTheMiddleDoesNoHarm) {
  const int jobs = transport() == "mpi" ? 1 : FaultsWanted() / 40 + 1;
  for (int i = 0; i < jobs && !HasFailure(); ++i) {
    const std::uint64_t seed = TestSeed() + static_cast<std::uint64_t>(i) * 1000;
    SCOPED_TRACE(fmt::format("SLIMGRAPH_TEST_SEED={}, job {}", TestSeed(), i));
    const auto victim = static_cast<NodeId>(seed % kNodes);
    OnSurvivors(victim, [=](Job& job, Fabric& fabric) {
      const SharedRegion meeting = *fabric.Share(16);  // the victim's last write may still change
                                                       // the players' region
      Player player(job, fabric, seed);
      ASSERT_TRUE(job.Exchange(""));
      for (int round = 0; round < 5; ++round) player.PlayRound();
      player.TakeLeave();
      if (job.self() == victim) player.DieInTheMiddle();
      player.PlayUntilDead(victim);
      BarrierWithout(victim, job, fabric.endpoint(0), meeting);
    });
  }
}

}  // namespace
}  // namespace slimgraph
