#include "slimgraph/launch/handshake.h"

#include <sodium.h>

#include <cstring>
#include <span>

#include "slimgraph/base/random.h"

namespace slimgraph {
namespace {

static_assert(std::tuple_size_v<Proof> == crypto_auth_BYTES);
static_assert(sizeof(HandshakeKey) == crypto_secretbox_KEYBYTES);

using Nonce = std::array<unsigned char, crypto_secretbox_NONCEBYTES>;

Nonce NonceOf(std::uint64_t number) {
  Nonce nonce{};
  std::memcpy(nonce.data(), &number, sizeof number);
  return nonce;
}

const unsigned char* DataOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string InHex(const Challenge& challenge) {
  std::string text;
  for (const std::byte byte : challenge) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
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

bool SameProof(const Proof& a, const Proof& b) {
  return ::sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<HandshakeKey> HandshakeKey::Derive(std::string_view secret, std::string_view purpose) {
  if (secret.empty()) return EnvironmentError("the job has no secret to keep strangers out");
  if (::sodium_init() < 0) return EnvironmentError("libsodium does not start on this system");
  HandshakeKey key;
  crypto_generichash_state state;
  ::crypto_generichash_init(&state, nullptr, 0, key.key_.size());
  // The length of the purpose comes first, so no two pairs of purpose and secret hash the same
  // bytes.
  const std::string marked = fmt::format("{}:{}", purpose.size(), purpose);
  ::crypto_generichash_update(&state, DataOf(marked), marked.size());
  ::crypto_generichash_update(&state, DataOf(secret), secret.size());
  ::crypto_generichash_final(&state, key.key_.data(), key.key_.size());
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

Proof HandshakeKey::Prove(Role role, const Challenges& challenges, Bytes claims) const {
  crypto_auth_hmacsha512256_state state;
  ::crypto_auth_hmacsha512256_init(&state, key_.data(), key_.size());
  const auto add = [&](Bytes bytes) {
    ::crypto_auth_hmacsha512256_update(&state, reinterpret_cast<const unsigned char*>(bytes.data()),
                                       bytes.size());
  };
  // All but the claims have a fixed length, so no two inputs hash the same bytes.
  add(std::as_bytes(std::span(&role, 1)));
  add(challenges.acceptor);
  add(challenges.opener);
  add(claims);
  Proof proof;
  ::crypto_auth_hmacsha512256_final(&state, reinterpret_cast<unsigned char*>(proof.data()));
  return proof;
}

bool HandshakeKey::Verify(const Proof& proof, Role role, const Challenges& challenges,
                          Bytes claims) const {
  return SameProof(proof, Prove(role, challenges, claims));
}

std::string HandshakeKey::Seal(std::uint64_t number, std::string_view message) const {
  const Nonce nonce = NonceOf(number);
  std::string sealed(crypto_secretbox_MACBYTES + message.size(), '\0');
  ::crypto_secretbox_easy(reinterpret_cast<unsigned char*>(sealed.data()), DataOf(message),
                          message.size(), nonce.data(), key_.data());
  return sealed;
}

std::optional<std::string> HandshakeKey::Open(std::uint64_t number, std::string_view sealed) const {
  if (sealed.size() < crypto_secretbox_MACBYTES) return std::nullopt;
  const Nonce nonce = NonceOf(number);
  std::string message(sealed.size() - crypto_secretbox_MACBYTES, '\0');
  if (::crypto_secretbox_open_easy(reinterpret_cast<unsigned char*>(message.data()), DataOf(sealed),
                                   sealed.size(), nonce.data(), key_.data()) != 0) {
    return std::nullopt;
  }
  return message;
}

}  // namespace slimgraph
