// How two processes prove to each other that both know a secret, which is never sent. Nodes join a
// job with this handshake, and open the connections of the tcp transport with it.
//
//   acceptor → opener   the acceptor's challenge
//   opener → acceptor   the opener's challenge, its claims, its proof
//   acceptor → opener   the acceptor's claims, its proof
//
// Claims are what a side states about itself: who it is and what it wants. A proof is
// HMAC-SHA-512-256 over the side's role, both challenges and its claims. A challenge is random and
// new for each session, so a recorded proof is worthless in another session. Bytes that follow the
// handshake are neither encrypted nor authenticated, except those of a pool (HandshakeKey::Seal)
// and of jobs that encrypt (Job::encrypts).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slimgraph/base/crypto.h"
#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

using Challenge = std::array<std::byte, 32>;
using Proof = CryptoKey;

struct Challenges {
  Challenge acceptor{};
  Challenge opener{};
};

// The proofs of the last two are never sent: they are the keys with which the side encrypts what it
// sends after the handshake.
enum class Role : std::uint8_t {
  kOpener = 1,
  kAcceptor = 2,
  kOpenersStream = 3,
  kAcceptorsStream = 4
};

// Random; an error if the system returns no random bytes.
Result<Challenge> NewChallenge();
// A random secret as text, without blanks.
Result<std::string> NewSecret();
// A secret for one purpose, as text, which tells nothing about the secret that it is made from.
Result<std::string> DeriveSecret(std::string_view secret, std::string_view purpose);

// Compares in constant time.
bool SameProof(const Proof& a, const Proof& b);

class HandshakeKey {
 public:
  // Both sides need the same secret and the same purpose. Proofs for one purpose are worthless for
  // any other.
  static Result<HandshakeKey> Derive(std::string_view secret, std::string_view purpose);
  // A key for one connection alone: the challenges are new.
  static Result<HandshakeKey> Derive(std::string_view secret, std::string_view purpose,
                                     const Challenges& challenges);

  Proof Prove(Role role, const Challenges& challenges, Bytes claims) const;
  bool Verify(const Proof& proof, Role role, const Challenges& challenges, Bytes claims) const;

  // Encrypts and authenticates a message (crypto_secretbox). A key of its own for each connection,
  // and a number of its own for each message with that key: messages are then neither replayed nor
  // reordered unnoticed.
  std::string Seal(std::uint64_t number, std::string_view message) const;
  // Nothing: it was not sealed with this key and number, or has been changed.
  std::optional<std::string> Open(std::uint64_t number, std::string_view sealed) const;

 private:
  HandshakeKey() = default;
  CryptoKey key_{};
};

}  // namespace slimgraph
