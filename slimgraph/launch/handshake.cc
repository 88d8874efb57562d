#include "slimgraph/launch/handshake.h"

#include <span>

#include "slimgraph/base/random.h"

namespace slimgraph {
namespace {

std::string InHex(const Challenge& challenge) {
  std::string text;
  for (const std::byte byte : challenge) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

// The length of the purpose comes first, so no two pairs of purpose and secret hash the same bytes.
CryptoKey KeyOf(std::string_view secret, std::string_view purpose) {
  return HashOf({fmt::format("{}:{}", purpose.size(), purpose), secret});
}

}  // namespace

Result<Challenge> NewChallenge() {
  Challenge challenge;
  SLIM_TRY(FillWithRandom(challenge));
  return challenge;
}

Result<std::string> NewSecret() {
  SLIM_ASSIGN(const Challenge random, NewChallenge());
  return InHex(random);
}

Result<std::string> DeriveSecret(std::string_view secret, std::string_view purpose) {
  SLIM_TRY(StartCrypto());
  return InHex(KeyOf(secret, purpose));
}

bool SameProof(const Proof& a, const Proof& b) { return SameHash(a, b); }

Result<HandshakeKey> HandshakeKey::Derive(std::string_view secret, std::string_view purpose) {
  if (secret.empty()) return EnvironmentError("the job has no secret to keep strangers out");
  SLIM_TRY(StartCrypto());
  HandshakeKey key;
  key.key_ = KeyOf(secret, purpose);
  return key;
}

Result<HandshakeKey> HandshakeKey::Derive(std::string_view secret, std::string_view purpose,
                                          const Challenges& challenges) {
  std::string whole(purpose);
  for (const Challenge& challenge : {challenges.acceptor, challenges.opener}) {
    whole += ' ';
    whole += InHex(challenge);
  }
  return Derive(secret, whole);
}

// All but the claims have a fixed length, so no two inputs hash the same bytes.
Proof HandshakeKey::Prove(Role role, const Challenges& challenges, Bytes claims) const {
  return KeyedHashOf(
      key_, {std::as_bytes(std::span(&role, 1)), challenges.acceptor, challenges.opener, claims});
}

bool HandshakeKey::Verify(const Proof& proof, Role role, const Challenges& challenges,
                          Bytes claims) const {
  return SameProof(proof, Prove(role, challenges, claims));
}

std::string HandshakeKey::Seal(std::uint64_t number, std::string_view message) const {
  return SealMessage(key_, number, message);
}

std::optional<std::string> HandshakeKey::Open(std::uint64_t number, std::string_view sealed) const {
  return OpenMessage(key_, number, sealed);
}

}  // namespace slimgraph
