// Strangers that connect while a job forms: the job forms nevertheless, and they are disconnected.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/launch/internal/control_plane.h"
#include "slimgraph/launch/internal/launcher_link.h"
#include "slimgraph/launch/job.h"
#include "slimgraph/launch/joining.h"
#include "tests/support/strangers.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

constexpr const char* kSecret = "the secret";
constexpr const char* kPurpose = "join";

// A job whose nodes are threads of this process.
class HubUnderStrangers : public ::testing::Test {
 protected:
  void StartHub(NodeId nodes) {
    nodes_ = nodes;
    threads_.emplace_back([this] {
      JoinConfig config{.self = 0, .nodes = nodes_, .secret = kSecret};
      config.listener = std::move(listener_);
      Run(std::move(config));
    });
  }
  void StartNode(NodeId node) { StartNode(node, port_); }
  void StartNode(NodeId node, std::uint16_t hub_port) {
    threads_.emplace_back([this, node, hub_port] {
      Run({.self = node,
           .nodes = nodes_,
           .hub_address = fmt::format("127.0.0.1:{}", hub_port),
           .secret = kSecret});
    });
  }
  void AwaitEnd() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  std::uint16_t port() const { return port_; }

 private:
  static void Run(JoinConfig config) {
    const NodeId self = config.self;
    const NodeId nodes = config.nodes;
    const auto job = Job::Join(std::move(config), OnLoss::kReport);
    ASSERT_TRUE(job) << job.error().message;
    const auto all = (*job)->Exchange(fmt::format("word of {}", self));
    ASSERT_TRUE(all) << all.error().message;
    for (NodeId node = 0; node < nodes; ++node) {
      EXPECT_EQ((*all)[node], fmt::format("word of {}", node));
    }
    EXPECT_TRUE((*job)->Leave(0));
  }

  NodeId nodes_ = 0;
  UniqueFd listener_ = Unwrap(ListenTcp("127.0.0.1"));
  const std::uint16_t port_ = LocalAddress(listener_.get()).port();
  std::vector<std::thread> threads_;
};

// Relays the bytes between one node and the hub.
class Relay {
 public:
  explicit Relay(std::uint16_t hub_port) : hub_(ConnectStranger(hub_port)) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Relay() { thread_.join(); }
  std::uint16_t port() const { return LocalAddress(listener_.get()).port(); }

  void AwaitFirstWordOfNode() { said_.wait(false); }

 private:
  void Run() {
    pollfd wait{listener_.get(), POLLIN, 0};
    ::poll(&wait, 1, -1);
    const UniqueFd node(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    while (Carry(node.get())) {
    }
    said_ = true;
    said_.notify_all();
  }
  // Returns false once either side has ended.
  bool Carry(int node) {
    std::array<pollfd, 2> ends{{{node, POLLIN, 0}, {hub_.get(), POLLIN, 0}}};
    ::poll(ends.data(), ends.size(), -1);
    for (std::size_t from = 0; from < ends.size(); ++from) {
      std::array<char, 4096> bytes{};
      if (ends[from].revents == 0) continue;
      const auto got = ::recv(ends[from].fd, bytes.data(), bytes.size(), 0);
      if (got <= 0) return false;
      ::send(ends[1 - from].fd, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
      if (ends[from].fd != node) continue;
      said_ = true;
      said_.notify_all();
    }
    return true;
  }

  UniqueFd listener_ = Unwrap(ListenTcp("127.0.0.1"));
  UniqueFd hub_;
  std::atomic<bool> said_ = false;
  std::thread thread_;
};

// Waits for the first frame of a hub or a node.
Frame AwaitFrame(int fd) {
  FrameReader reader(kMaxJoiningBytes);
  while (true) {
    if (auto frame = Unwrap(reader.Next())) return std::move(*frame);
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, 20'000) != 1) throw std::runtime_error("no frame has come");
    if (!reader.Fill(fd)) {
      auto last = Unwrap(reader.Next());
      if (!last) throw std::runtime_error("the connection has ended");
      return std::move(*last);
    }
  }
}

TEST_F(HubUnderStrangers, FormsAJobWhateverStrangersSend) {
  std::vector<UniqueFd> strangers;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const std::string& word : StrangerMessages(seed)) {
      strangers.push_back(ConnectStranger(port()));
      ASSERT_TRUE(strangers.back());
      ::send(strangers.back().get(), word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
  }
  StartHub(4);
  for (NodeId node = 1; node < 4; ++node) StartNode(node);
  AwaitEnd();
}

TEST_F(HubUnderStrangers, ClosesConnectionsThatProveNothingInTime) {
  StartHub(2);
  const UniqueFd silent = ConnectStranger(port());
  const UniqueFd slow = ConnectStranger(port());
  ASSERT_TRUE(silent && slow);
  // Sends a hello one byte at a time, several a second, so the connection is never silent for long.
  std::atomic<bool> closed = false;
  std::thread sender([&] {
    const std::string hello = StrangerMessages(1).back();
    for (std::size_t i = 0; i + 1 < hello.size() && !closed; ++i) {
      pollfd wait{slow.get(), 0, 0};
      if (::send(slow.get(), hello.data() + i, 1, MSG_NOSIGNAL) != 1) break;
      ::poll(&wait, 1, 200);
    }
  });
  EXPECT_TRUE(AwaitHangUp(silent.get()));
  EXPECT_TRUE(AwaitHangUp(slow.get()));
  closed = true;
  sender.join();
  StartNode(1);
  AwaitEnd();
}

// Connections are not checked for lateness any more once the member has joined. So those that are
// closed were closed because there were too many.
TEST(Newcomers, DropTheOldestIfThereAreTooMany) {
  constexpr std::size_t kMost = 4;
  constexpr std::uint64_t kLongNs = 60'000'000'000;
  const auto key = Unwrap(HandshakeKey::Derive(kSecret, kPurpose));
  const UniqueFd listener = Unwrap(ListenTcp("127.0.0.1"));
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 10; ++i)
    strangers.push_back(ConnectStranger(LocalAddress(listener.get()).port()));
  const UniqueFd member = ConnectStranger(LocalAddress(listener.get()).port());
  std::thread joins([&] {
    const Challenges challenges{ReadChallenge(AwaitFrame(member.get())).value(),
                                Unwrap(NewChallenge())};
    SendFrame(member.get(), HelloFrame(key, challenges, {1, "a host"}));
  });
  Newcomers newcomers(listener.get(), {key}, kMost);
  EXPECT_TRUE(Unwrap(newcomers.Next(NowNs() + kLongNs)));
  joins.join();
  for (std::size_t i = 0; i + kMost <= strangers.size(); ++i) {
    EXPECT_TRUE(AwaitHangUp(strangers[i].get(), std::chrono::seconds(2))) << i;
  }
}

// An eavesdropper that has recorded how a node joined another job with the same secret.
TEST_F(HubUnderStrangers, RejectsAProofOfAnotherSession) {
  const auto key = Unwrap(HandshakeKey::Derive(kSecret, kPurpose));
  const Challenges recorded{Unwrap(NewChallenge()), Unwrap(NewChallenge())};
  StartHub(2);
  const UniqueFd stranger = ConnectStranger(port());
  ASSERT_TRUE(stranger);
  const auto challenge = ReadChallenge(AwaitFrame(stranger.get()));
  ASSERT_TRUE(challenge);
  EXPECT_NE(*challenge, recorded.acceptor);
  SendFrame(stranger.get(), HelloFrame(key, recorded, {1, "a host"}));
  const Frame answer = AwaitFrame(stranger.get());
  EXPECT_EQ(answer.type, FrameType::kRefused);
  EXPECT_EQ(answer.body, "it does not know the job's secret");
  EXPECT_TRUE(AwaitHangUp(stranger.get()));
  StartNode(1);
  AwaitEnd();
}

// The false members claim to be the hub, nodes beyond the job's size, and a node that has joined.
TEST_F(HubUnderStrangers, TakesEachNodeOnce) {
  const auto key = Unwrap(HandshakeKey::Derive(kSecret, kPurpose));
  StartHub(3);
  Relay relay(port());
  StartNode(1, relay.port());
  relay.AwaitFirstWordOfNode();
  for (const NodeId node : {0U, 3U, 60'000U, 1U}) {
    const UniqueFd fd = ConnectStranger(port());
    ASSERT_TRUE(fd);
    const Challenges challenges{ReadChallenge(AwaitFrame(fd.get())).value(),
                                Unwrap(NewChallenge())};
    SendFrame(fd.get(), HelloFrame(key, challenges, {node, "a host"}));
    EXPECT_EQ(AwaitFrame(fd.get()).body, fmt::format("node {} is not expected", node));
  }
  StartNode(2);
  AwaitEnd();
}

// A listener at the hub's address that does not know the secret gets no node to join.
TEST(FalseHub, IsRejectedByTheNode) {
  const auto listener = Unwrap(ListenTcp("127.0.0.1"));
  std::thread hub([&] {
    pollfd wait{.fd = listener.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&wait, 1, /*timeout=*/10'000), 1);
    const UniqueFd fd(::accept(listener.get(), nullptr, nullptr));
    const auto guess = Unwrap(HandshakeKey::Derive("a guess", kPurpose));
    Challenges challenges{Unwrap(NewChallenge()), {}};
    SendFrame(fd.get(), ChallengeFrame(challenges.acceptor));
    const Frame hello = AwaitFrame(fd.get());
    EXPECT_EQ(hello.body.find(kSecret), std::string::npos);
    std::memcpy(challenges.opener.data(), hello.body.data(), challenges.opener.size());
    SendFrame(fd.get(), WelcomeFrame(guess, challenges, {"127.0.0.1", "127.0.0.1", "0", "0"}));
    EXPECT_TRUE(AwaitHangUp(fd.get()));
  });
  const auto job =
      Job::Join({.self = 1,
                 .nodes = 2,
                 .hub_address = fmt::format("127.0.0.1:{}", LocalAddress(listener.get()).port()),
                 .secret = kSecret},
                OnLoss::kReport);
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().message.find("it does not know the job's secret"), std::string::npos)
      << job.error().message;
  hub.join();
}

TEST(LauncherLink, RefusesANameThatIsTooLongForASocket) {
  ::setenv(kLauncherVariable, std::string(5000, 'x').c_str(), 1);
  const auto link = LauncherLink::OpenFromEnvironment(0);
  ::unsetenv(kLauncherVariable);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().message,
            "SLIMGRAPH_LAUNCHER is not a launcher's socket: it has 5000 characters, more than 107");
}

// A member that sends bytes that are not a frame, or a frame about a node that does not exist.
TEST(Job, EndsWithALineWhenAMemberSendsNonsense) {
  const std::vector<Frame> nonsense{
      {.type = FrameType::kPartAborted, .node = 1, .exchange = {.tag = 400}, .body = "a line"},
      {.type = FrameType::kLost, .node = 4000, .body = "a node"},
      {.type = static_cast<FrameType>(200), .node = 1, .body = "a type"}};
  for (const Frame& frame : nonsense) {
    UniqueFd listener = Unwrap(ListenTcp("127.0.0.1"));
    const UniqueFd member = ConnectStranger(LocalAddress(listener.get()).port());
    std::thread liar([&] {
      const auto key = Unwrap(HandshakeKey::Derive(kSecret, kPurpose));
      const Challenges challenges{ReadChallenge(AwaitFrame(member.get())).value(),
                                  Unwrap(NewChallenge())};
      SendFrame(member.get(), HelloFrame(key, challenges, {1, "a host"}));
      SendFrame(member.get(), frame);
    });
    JoinConfig config{.self = 0, .nodes = 2, .secret = kSecret};
    config.listener = std::move(listener);
    const auto job = Job::Join(std::move(config), OnLoss::kReport);
    ASSERT_TRUE(job) << job.error().message;
    liar.join();
    EXPECT_FALSE((*job)->Exchange(""));
    EXPECT_NE((*job)->loss().find("it sent"), std::string::npos) << frame.body << (*job)->loss();
  }
}

// Interrupts the thread that constructs it after every 50 µs, for a millisecond each time. So other
// threads run ahead of it.
class SlowThread {
 public:
  SlowThread() {
    struct sigaction action {};
    action.sa_handler = [](int) {
      const timespec pause{0, 1'000'000};
      ::nanosleep(&pause, nullptr);
      ::timer_settime(timer_, 0, &kNext, nullptr);
    };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR2, &action, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event._sigev_un._tid = ::gettid();
    event.sigev_signo = SIGUSR2;
    ::timer_create(CLOCK_MONOTONIC, &event, &timer_);
    ::timer_settime(timer_, 0, &kNext, nullptr);
  }

 private:
  static constexpr itimerspec kNext{{0, 0}, {0, 50'000}};
  static inline timer_t timer_{};
};

// The control thread may learn of a death before the thread that forms the job does anything else.
TEST(Job, EndsInOrderWhenANodeDiesAsSoonAsTheJobHasFormed) {
  for (int round = 0; round < 20; ++round) {
    UniqueFd listener = Unwrap(ListenTcp("127.0.0.1"));
    const UniqueFd member = ConnectStranger(LocalAddress(listener.get()).port());
    const pid_t hub = ::fork();
    if (hub == 0) {
      ::close(member.get());
      static_cast<void>(!::freopen("/dev/null", "w", stderr));
      const SlowThread slow;
      JoinConfig config{.self = 0, .nodes = 2, .secret = kSecret};
      config.listener = std::move(listener);
      const auto job = Job::Join(std::move(config), OnLoss::kEndJob);
      while (job) ::pause();
      ::_exit(1);
    }
    listener.Reset();
    const auto key = Unwrap(HandshakeKey::Derive(kSecret, kPurpose));
    const Challenges challenges{ReadChallenge(AwaitFrame(member.get())).value(),
                                Unwrap(NewChallenge())};
    SendFrame(member.get(), HelloFrame(key, challenges, {1, "a host"}));
    ::shutdown(member.get(), SHUT_RDWR);
    int status = 0;
    ASSERT_EQ(::waitpid(hub, &status, 0), hub);
    ASSERT_TRUE(WIFEXITED(status)) << "round " << round << ": signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 4);
  }
}

}  // namespace
}  // namespace slimgraph
