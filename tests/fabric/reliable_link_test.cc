// Two endpoints exchange messages over a simulated network, in simulated time. It loses, duplicates
// and delays datagrams at random, and reads the memory of a datagram some time after it was sent.
#include "slimgraph/fabric/internal/datagrams/reliable_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "tests/fabric/conformance.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kDelayNs = 10'000;
constexpr std::uint64_t kLongDelayNs = 30'000'000;

struct Network {
  double loss = 0;
  double duplicates = 0;
  double delayed = 0;  // for up to kLongDelayNs
  std::uint32_t datagram_bytes = 0;
  std::uint32_t queue = 0;  // how many datagrams an endpoint may have given to its device
  bool no_room = false;     // for messages at their receivers
};

class Simulation {
 public:
  Simulation(const Network& network, std::uint64_t seed)
      : network_(network), random_(seed), sides_{Side(*this, 0), Side(*this, 1)} {}

  // Each side sends `messages`. Returns whether all have arrived, and are known to have, before the
  // time is over.
  bool Run(std::uint32_t messages) {
    while (now_ns_ < 3600 * kSecondNs) {
      for (Side& side : sides_) side.SendSome(messages);
      if (std::all_of(sides_.begin(), sides_.end(),
                      [&](const Side& side) { return side.Done(messages); })) {
        return true;
      }
      Advance();
    }
    return false;
  }

  // Each side sends a message. Returns when a side notices that it is not answered, but at most
  // `limit_s`.
  double SecondsUntilUnanswered(double limit_s) {
    const std::uint64_t start_ns = now_ns_;
    const auto elapsed_s = [&] { return static_cast<double>(now_ns_ - start_ns) * 1e-9; };
    while (elapsed_s() < limit_s) {
      for (Side& side : sides_) side.SendSome(1);
      Advance();
      if (sides_[0].unanswered() || sides_[1].unanswered()) return elapsed_s();
    }
    return limit_s;
  }

 private:
  static std::vector<std::byte> BodyOf(NodeId from, std::uint32_t number) {
    std::mt19937_64 random(number * 2 + from);
    constexpr std::size_t kSizes[] = {0, 8, 300, 5000, kMaxMessageBytes};
    std::vector<std::byte> body(random() % 7 == 0 ? kSizes[random() % 5] : random() % 100);
    for (std::byte& one : body) one = static_cast<std::byte>(random());
    return body;
  }

  class Side : private DatagramPort {
   public:
    Side(Simulation& simulation, NodeId self)
        : simulation_(simulation), shared_{*this, {self, 0}}, link_(shared_, {1 - self, 0}) {}

    void SendSome(std::uint32_t messages) {
      while (next_ < messages && simulation_.random_() % 4 != 0) {
        const std::vector<std::byte> body = BodyOf(shared_.self.node, next_);
        const Message message{.from = shared_.self,
                              .handler = static_cast<HandlerId>(next_ % 1000),
                              .acknowledged = next_,
                              .due_ns = next_ % 3 == 0 ? next_ : 0,
                              .body = body};
        if (!link_.Send(message, simulation_.now_ns_)) return;
        ++next_;
      }
    }

    bool Done(std::uint32_t messages) const {
      return next_ == messages && received_ == messages && link_.all_acknowledged();
    }

    bool unanswered() const { return link_.unanswered(); }

    void Take(Bytes datagram) {
      if (simulation_.network_.no_room) return link_.Take(datagram, simulation_.now_ns_, {});
      link_.Take(datagram, simulation_.now_ns_, [&](const Message& message) {
        const std::vector<std::byte> body = BodyOf(1 - shared_.self.node, received_);
        EXPECT_EQ(message.handler, received_ % 1000);
        EXPECT_EQ(message.acknowledged, received_);
        EXPECT_EQ(message.due_ns, received_ % 3 == 0 ? received_ : 0);
        EXPECT_TRUE(std::ranges::equal(message.body, body)) << "message " << received_;
        ++received_;
      });
    }

    // When the link wants to be called again; 0: not unless something happens.
    std::uint64_t Progress() {
      if (shared_.active.empty()) return 0;
      const std::uint64_t due_ns = link_.Progress(simulation_.now_ns_);
      if (due_ns == 0) shared_.active.clear();
      return due_ns;
    }

    // The device reads the oldest datagram from memory.
    void Transmit() {
      if (queued_.empty()) return;
      const Bytes bytes = queued_.front();
      simulation_.Carry(1 - shared_.self.node, {bytes.begin(), bytes.end()});
      queued_.erase(queued_.begin());
      ++sent_;
    }
    bool queued() const { return !queued_.empty(); }

   private:
    struct Ring : SendRing {
      explicit Ring(std::unique_ptr<std::byte[]> memory, std::size_t bytes)
          : SendRing({memory.get(), bytes}), owned(std::move(memory)) {}
      std::unique_ptr<std::byte[]> owned;
    };

    std::uint32_t MostBytes(EndpointAddress) const override {
      return simulation_.network_.datagram_bytes;
    }
    Result<std::unique_ptr<SendRing>> MakeRing(std::uint64_t bytes) override {
      return std::make_unique<Ring>(std::make_unique<std::byte[]>(bytes), bytes);
    }
    std::uint64_t Send(EndpointAddress, Bytes bytes, const SendRing* ring) override {
      EXPECT_LE(bytes.size(), ring != nullptr ? simulation_.network_.datagram_bytes : kCopiedBytes);
      if (queued_.size() == simulation_.network_.queue) return 0;
      if (ring == nullptr) {
        std::vector<std::byte>& copy = copies_[++posted_ % copies_.size()];
        copy.assign(bytes.begin(), bytes.end());
        queued_.emplace_back(copy);
      } else {
        ++posted_;
        queued_.push_back(bytes);
      }
      return posted_;
    }
    std::uint64_t sent() override { return sent_; }

    Simulation& simulation_;
    ReliableLink::Shared shared_;
    ReliableLink link_;
    std::uint32_t next_ = 0;
    std::uint32_t received_ = 0;
    std::vector<Bytes> queued_;
    std::array<std::vector<std::byte>, 256> copies_;
    std::uint64_t posted_ = 0;
    std::uint64_t sent_ = 0;
  };

  void Carry(NodeId to, const std::vector<std::byte>& datagram) {
    const auto draw = [&](double probability) {
      return std::bernoulli_distribution(probability)(random_);
    };
    if (draw(network_.loss)) return;
    for (int copies = draw(network_.duplicates) ? 2 : 1; copies > 0; --copies) {
      const std::uint64_t most_ns = draw(network_.delayed) ? kLongDelayNs : kDelayNs;
      under_way_.emplace(now_ns_ + 1 + random_() % most_ns, std::pair(to, datagram));
    }
  }

  // Goes to the next event.
  void Advance() {
    std::uint64_t next_ns = now_ns_ + kSecondNs;
    for (Side& side : sides_) {
      if (const std::uint64_t due_ns = side.Progress(); due_ns != 0) {
        next_ns = std::min(next_ns, std::max(due_ns, now_ns_ + 1));
      }
      if (side.queued()) next_ns = now_ns_ + 1 + random_() % 2000;
    }
    if (!under_way_.empty()) next_ns = std::min(next_ns, under_way_.begin()->first);
    now_ns_ = std::max(now_ns_, next_ns);
    for (Side& side : sides_) {
      if (random_() % 2 == 0) side.Transmit();
    }
    while (!under_way_.empty() && under_way_.begin()->first <= now_ns_) {
      const auto [to, datagram] = under_way_.extract(under_way_.begin()).mapped();
      sides_[to].Take(datagram);
    }
  }

  const Network network_;
  std::mt19937_64 random_;
  std::uint64_t now_ns_ = kSecondNs;
  // Datagrams in the network, by the time of their arrival.
  std::multimap<std::uint64_t, std::pair<NodeId, std::vector<std::byte>>> under_way_;
  std::array<Side, 2> sides_;
};

TEST(ReliableLink, DeliversEachMessageOnceAndInOrder) {
  std::mt19937_64 seeds(TestSeed());
  for (const double loss : {0.0, 0.01, 0.2, 0.6}) {
    for (int round = 0; round < 8; ++round) {
      const std::uint64_t seed = seeds();
      std::mt19937_64 random(seed);
      const Network network{.loss = loss,
                            .duplicates = random() % 2 == 0 ? 0 : 0.3,
                            .delayed = random() % 2 == 0 ? 0 : 0.05,
                            .datagram_bytes = static_cast<std::uint32_t>(128 << random() % 6),
                            .queue = static_cast<std::uint32_t>(1 + random() % 100)};
      EXPECT_TRUE(Simulation(network, seed).Run(150)) << "loss " << loss << ", seed " << seed;
      if (HasFailure()) return;
    }
  }
}

TEST(ReliableLink, NoticesThatItsPeerDoesNotAnswer) {
  Network network{.loss = 1, .datagram_bytes = 1024, .queue = 10};
  const double seconds = Simulation(network, TestSeed()).SecondsUntilUnanswered(60);
  EXPECT_GT(seconds, 5);
  EXPECT_LT(seconds, 15);
  network.loss = 0;  // all are answered
  EXPECT_EQ(Simulation(network, TestSeed()).SecondsUntilUnanswered(60), 60);
  network.no_room = true;  // these too, though no message is received
  EXPECT_EQ(Simulation(network, TestSeed()).SecondsUntilUnanswered(60), 60);
  network.loss = 0.3;
  EXPECT_EQ(Simulation(network, TestSeed()).SecondsUntilUnanswered(60), 60);
}

}  // namespace
}  // namespace slimgraph
