// What a node and the hub send to each other until each has proved that it knows the job's secret,
// and how the hub handles connections that have not proved it yet. A pool's node accepts clients
// in the same way; then the hub is that node, and the secret is the pool's key.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/launch/frame.h"
#include "slimgraph/launch/handshake.h"

namespace slimgraph {

// For both sides: sets TCP_NODELAY, and limits how long a send may block.
void SetUpControlSocket(int fd);

// The hub sends its challenge first.
Frame ChallengeFrame(const Challenge& hub);
std::optional<Challenge> ReadChallenge(const Frame& frame);

// A node's claims.
struct Hello {
  NodeId node = 0;
  std::string host_identity;
};
// The frame carries the node's challenge, which `challenges` contains.
Frame HelloFrame(const HandshakeKey& key, const Challenges& challenges, const Hello& hello);
// Fills in `challenges.opener`; returns nothing if the proof is wrong.
std::optional<Hello> ReadHello(const HandshakeKey& key, Challenges& challenges, const Frame& frame);

// What the hub tells a node about the whole job, or a pool's node tells a client.
Frame WelcomeFrame(const HandshakeKey& key, const Challenges& challenges,
                   const std::vector<std::string>& words);
Result<std::vector<std::string>> ReadWelcome(const HandshakeKey& key, const Challenges& challenges,
                                             const Frame& frame);

// Waits for one frame on a connection; returns nothing if the connection ends or `deadline_ns`
// passes.
Result<std::optional<Frame>> AwaitFrame(int fd, FrameReader& reader, std::uint64_t deadline_ns);

// What both sides know after a handshake.
struct Introduced {
  Challenges challenges;
  std::vector<std::string> words;  // of the welcome
};
// The opener's side of the handshake. Returns nothing if the other side has closed the connection
// without an answer, or has not answered in time.
Result<std::optional<Introduced>> Introduce(int fd, FrameReader& reader, const HandshakeKey& key,
                                            const Hello& hello, std::uint64_t deadline_ns);

// The connections to a hub that have not yet proved that they belong to the job. One thread serves
// them all. A connection that proves nothing in time is closed. If there are too many, the oldest
// is closed.
class Newcomers {
 public:
  // A node that has proved that it knows the secret and waits for its kWelcome frame.
  struct Member {
    Hello hello;
    Challenges challenges;
    std::size_t key = 0;  // which of the keys it knows
    UniqueFd fd;
    FrameReader reader;
  };

  // `listener` is non-blocking and must outlive this object. A member must know one of the keys.
  Newcomers(int listener, std::vector<HandshakeKey> keys, std::size_t most);

  // Waits for the next member; returns nothing if `deadline_ns` passes before one has come.
  Result<std::optional<Member>> Next(std::uint64_t deadline_ns);

  // Tells a member why it is refused.
  static void Refuse(const UniqueFd& fd, std::string_view reason);

 private:
  struct Connection {
    UniqueFd fd;
    FrameReader reader{kMaxJoiningBytes};
    Challenges challenges;
    std::uint64_t deadline_ns = 0;
  };
  void Await(std::uint64_t deadline_ns);
  Status AcceptAll();
  void ReadFrom(Connection& connection);
  void DropLateAndClosed();

  const int listener_;
  const std::vector<HandshakeKey> keys_;
  const std::size_t most_;
  bool out_of_descriptors_ = false;
  std::deque<Connection> connections_;  // the oldest first
  std::deque<Member> members_;
};

}  // namespace slimgraph
