// The message ring of the shared-memory transport, its ready bits and its doorbell
// (fabric/internal/shm/ring.h): messages arrive whole and in order, and a receiver that sleeps is
// woken. A wake-up that is lost shows as a deadlock.
#include "slimgraph/fabric/internal/shm/ring.h"

#include "tests/relacy/checker.h"

namespace slimgraph {
namespace {

// The length of a body changes, so that messages end at different distances from the ring's end.
struct Body {
  std::uint64_t words[2];
  std::size_t bytes;

  static Body Of(std::uint32_t sender, std::uint64_t number) {
    const std::uint64_t word = sender * 100 + number;
    return {{word, ~word}, number % 2 == 1 ? sizeof words : sizeof(std::uint64_t)};
  }
};

// An endpoint and those that send to it. Sends and polls as ShmChannel does.
template <std::uint32_t kSenders>
class Mailbox {
 public:
  void Send(std::uint32_t sender, std::uint64_t messages) {
    for (std::uint64_t number = 0; number < messages; ++number) {
      const Body body = Body::Of(sender, number);
      Message message;
      message.handler = kHandler;
      message.body = std::as_bytes(std::span(body.words)).first(body.bytes);
      while (!SendByRing(rings_[sender].ring, bits(), doorbell_, sender * kApart, message)) {
        rl::ctx().yield(1, RL_INFO);
      }
    }
  }
  void ReceiveAll(std::uint64_t messages_of_each) {
    while (received_ < kSenders * messages_of_each) {
      const std::uint32_t seen = doorbell_.rung.load();
      bits().Take([&](std::uint32_t number) { Drain(number / kApart); });
      if (received_ == kSenders * messages_of_each) return;
      doorbell_.Sleep(seen, 0, [&] { return bits().any(); });
    }
  }

 private:
  static constexpr std::size_t kBytes = 80;
  static constexpr HandlerId kHandler = 7;
  static constexpr std::uint32_t kApart = 64;  // so that the senders' bits lie in different words
  struct CheckedRing {
    BasicShmRing<kBytes> ring;
    checked::PlainWords<kBytes / 8> bytes{ring.bytes};
  };

  ShmReadyBits bits() { return {ready_, ShmReadyBits::WordsFor(kSenders * kApart)}; }
  void Drain(std::uint32_t sender) {
    rings_[sender].ring.Drain({sender, 0}, [&](const Message& message) {
      const Body expected = Body::Of(sender, next_[sender]++);
      RL_ASSERT(message.from.node == sender && message.handler == kHandler);
      RL_ASSERT(message.body.size() == expected.bytes);
      Body got = {};
      LoadPlain(got.words, message.body.data(), message.body.size());
      RL_ASSERT(std::memcmp(got.words, expected.words, expected.bytes) == 0);
      ++received_;
    });
  }

  CheckedRing rings_[kSenders];
  Atomic<std::uint64_t> ready_[kSenders];
  ShmDoorbell doorbell_;
  std::uint64_t received_ = 0;
  std::uint64_t next_[kSenders] = {};
};

template <typename Suite, std::uint32_t kSenders, std::uint64_t kMessages>
struct Senders : rl::test_suite<Suite, kSenders + 1> {
  Mailbox<kSenders> mailbox;

  void thread(int index) {
    const auto sender = static_cast<std::uint32_t>(index);
    if (sender < kSenders) return mailbox.Send(sender, kMessages);
    mailbox.ReceiveAll(kMessages);
  }
};

struct OneSender : Senders<OneSender, 1, 5> {};
struct TwoSenders : Senders<TwoSenders, 2, 1> {};

}  // namespace
}  // namespace slimgraph

int main(int arguments, char** argument) {
  slimgraph::Checker checker(arguments, argument);
  checker.Check<slimgraph::OneSender>("one sender", {2, 500'000});
  checker.Check<slimgraph::TwoSenders>("two senders", {2, 500'000});
  return checker.Finish();
}
