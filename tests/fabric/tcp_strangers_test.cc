// A connection of the tcp transport must prove that it belongs to the job; others are disconnected.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "slimgraph/base/sockets.h"
#include "slimgraph/fabric/internal/tcp/service.h"
#include "tests/fabric/conformance.h"
#include "tests/support/strangers.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

class TcpAdmission : public ::testing::Test {
 protected:
  TcpHello Hello(const TcpClaims& claims = {.node = 1, .endpoint = 2}) const {
    return Hello(key_, contact_.challenge, claims);
  }
  static TcpHello Hello(const HandshakeKey& key, const Challenge& acceptor,
                        const TcpClaims& claims) {
    TcpHello hello{.challenge = Unwrap(NewChallenge()), .claims = claims, .proof = {}};
    hello.proof = key.Prove(Role::kOpener, {.acceptor = acceptor, .opener = hello.challenge},
                            std::as_bytes(std::span(&claims, 1)));
    return hello;
  }

  // Whether the service sends its welcome in answer to `hello`; otherwise it hangs up.
  bool Admits(const TcpHello& hello) const {
    const UniqueFd fd = ConnectStranger(contact_.port);
    ::send(fd.get(), &hello, sizeof hello, MSG_NOSIGNAL);
    Proof welcome;
    const ssize_t got = ::recv(fd.get(), welcome.data(), welcome.size(), MSG_WAITALL);
    if (got != static_cast<ssize_t>(welcome.size())) return false;
    EXPECT_TRUE(key_.Verify(welcome, Role::kAcceptor, {contact_.challenge, hello.challenge},
                            std::as_bytes(std::span(&hello.claims, 1))));
    return true;
  }

  const HandshakeKey key_ = Unwrap(HandshakeKey::Derive("the secret", "tcp"));
  UniqueFd listener_ = Unwrap(ListenTcp("127.0.0.1"));
  const TcpContact contact_{.host = "127.0.0.1",
                            .port = LocalAddress(listener_.get()).port(),
                            .challenge = Unwrap(NewChallenge())};
  std::atomic<int> messengers_ = 0;
  TcpService service_{Unwrap(Poller::Make()),
                      std::move(listener_),
                      {.key = key_, .challenge = contact_.challenge, .nodes = 4, .endpoints = 3},
                      [this](const TcpService::MessageConnection&) { ++messengers_; }};
};

TEST_F(TcpAdmission, AdmitsConnectionsThatProveThatTheyBelongToTheJob) {
  EXPECT_TRUE(Admits(Hello()));
  EXPECT_TRUE(Admits(Hello()));
  EXPECT_FALSE(Admits(Hello({.node = 1, .endpoint = 2, .to_endpoint = 0})));  // admitted, but
                                                                              // message connections
                                                                              // get no welcome
  EXPECT_EQ(messengers_, 1);
}

TEST_F(TcpAdmission, HangsUpOnAHelloThatWasSentBefore) {
  const TcpHello hello = Hello();
  EXPECT_TRUE(Admits(hello));
  EXPECT_FALSE(Admits(hello));
}

TEST_F(TcpAdmission, HangsUpOnProofsOfOtherSecretsPurposesAndSessions) {
  const auto guess = Unwrap(HandshakeKey::Derive("a guess", "tcp"));
  const auto join = Unwrap(HandshakeKey::Derive("the secret", "join"));
  EXPECT_FALSE(Admits(Hello(guess, contact_.challenge, {.node = 1})));
  EXPECT_FALSE(Admits(Hello(join, contact_.challenge, {.node = 1})));
  EXPECT_FALSE(Admits(Hello(key_, Unwrap(NewChallenge()), {.node = 1})));
  TcpHello another_node = Hello();
  another_node.claims.node = 2;
  EXPECT_FALSE(Admits(another_node));
}

TEST_F(TcpAdmission, HangsUpOnNodesAndEndpointsThatDoNotExist) {
  EXPECT_FALSE(Admits(Hello({.node = 4, .endpoint = 0})));
  EXPECT_FALSE(Admits(Hello({.node = 1, .endpoint = 3})));
  EXPECT_FALSE(Admits(Hello({.node = 1, .endpoint = 0, .to_endpoint = 3})));
  EXPECT_EQ(messengers_, 0);
}

// The oldest stranger is dropped long before its deadline for a hello.
TEST_F(TcpAdmission, KeepsNoMoreStrangersThanItHasRoomFor) {
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 400; ++i) strangers.push_back(ConnectStranger(contact_.port));
  EXPECT_TRUE(Admits(Hello()));  // so all of them have been accepted
  EXPECT_TRUE(AwaitHangUp(strangers.front().get(), std::chrono::seconds(5)));
}

TEST_F(TcpAdmission, HangsUpOnSilentConnections) {
  const UniqueFd silent = ConnectStranger(contact_.port);
  const UniqueFd slow = ConnectStranger(contact_.port);
  ::send(slow.get(), "x", 1, MSG_NOSIGNAL);
  EXPECT_TRUE(AwaitHangUp(silent.get()));
  EXPECT_TRUE(AwaitHangUp(slow.get()));
}

class FabricUnderStrangers : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricUnderStrangers,
                         ::testing::Values(Setting{"tcp", 2}, Setting{"tcp", 4}), NameOfSetting);

// New endpoints open new connections all the time.
TEST_P(FabricUnderStrangers, MovesTheRightBytes) {
  constexpr std::uint32_t kEndpoints = 8;
  constexpr std::size_t kBytes = 4096;
  FabricOptions options;
  options.endpoints = kEndpoints;
  OnEveryNode(
      [=](Job& job, Fabric& fabric) {
        const SharedRegion region = Unwrap(fabric.Share(kBytes * kEndpoints * job.nodes()));
        const auto words = Unwrap(job.Exchange(std::to_string(::getpid())));
        std::unique_ptr<StrangerAttack> attack;
        if (job.self() == 0) {
          attack = std::make_unique<StrangerAttack>([&] {
            std::vector<pid_t> processes;
            for (const std::string& word : words) processes.push_back(std::stoi(word));
            return processes;
          });
        }
        for (std::uint32_t i = 0; i < kEndpoints; ++i) {
          const std::size_t enough = 40 * (i + 1);
          while (attack && attack->connections() < enough) std::this_thread::yield();
          Unwrap(job.Exchange(""));
          Endpoint& endpoint = fabric.endpoint(i);
          const auto sent = Pattern(kBytes, i * 100 + job.self());
          const std::uint64_t place = (i * job.nodes() + job.self()) * kBytes;
          for (NodeId node = 0; node < job.nodes(); ++node) {
            endpoint.Write(node, region.id, place, sent);
          }
          ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
          for (NodeId node = 0; node < job.nodes(); ++node) {
            std::vector<std::byte> got(kBytes);
            endpoint.Read(node, region.id, place, got);
            ASSERT_EQ(endpoint.Flush(), Outcome::kOk);
            EXPECT_EQ(got, sent);
          }
        }
        EXPECT_TRUE(!attack || attack->ports() == job.nodes());
        Unwrap(job.Exchange(""));
      },
      options);
}

}  // namespace
}  // namespace slimgraph
