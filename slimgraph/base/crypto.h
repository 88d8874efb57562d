// What libsodium does for us: hashes with a key, and encryption that is also a proof of who has
// written the bytes. All keys have 32 bytes, and are secret.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

using CryptoKey = std::array<std::byte, 32>;

// An error if the library does not start on this system. Must be called first.
Status StartCrypto();

// A key from these texts (BLAKE2b), one after the other.
CryptoKey HashOf(std::initializer_list<std::string_view> texts);
// HMAC-SHA-512-256 of these bytes, one after the other.
CryptoKey KeyedHashOf(const CryptoKey& key, std::initializer_list<Bytes> parts);
// Compares in constant time.
bool SameHash(const CryptoKey& a, const CryptoKey& b);

// Encrypts one message (crypto_secretbox). `number` must be another one for each message with this
// key.
std::string SealMessage(const CryptoKey& key, std::uint64_t number, std::string_view message);
// Nothing: it was not sealed with this key and number, or has been changed.
std::optional<std::string> OpenMessage(const CryptoKey& key, std::uint64_t number,
                                       std::string_view sealed);

// Encrypts a stream of bytes (crypto_secretstream), such as one direction of a connection. The
// stream begins with a random header. Then come records: the length in 4 bytes, and so many
// encrypted bytes. A record that was changed, repeated, left out or moved is not accepted.
constexpr std::size_t kMostRecordBytes = 16 << 10;  // not encrypted

namespace internal {
struct CipherState {
  alignas(16) std::array<std::byte, 64> bytes;
};
}  // namespace internal

class StreamSealer {
 public:
  explicit StreamSealer(const CryptoKey& key);
  // Appends a record with these bytes, at most kMostRecordBytes, to `sealed`.
  void Seal(Bytes bytes, std::vector<std::byte>& sealed);

 private:
  internal::CipherState state_;
  std::vector<std::byte> header_;  // until it is sent
};

class StreamOpener {
 public:
  static constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
  static constexpr std::size_t kExtraBytes = 17;  // of a record, beside its length
  static constexpr std::size_t kMostSealedBytes = kLengthBytes + kMostRecordBytes + kExtraBytes;

  explicit StreamOpener(const CryptoKey& key) : key_(key) {}

  // How many bytes the stream takes until the end of what comes next, of which `sealed` has the
  // first; nothing if these cannot be of such a stream. Never more than kMostSealedBytes.
  std::optional<std::size_t> BytesOfNext(Bytes sealed) const;
  // Takes what comes next, all of which is in `sealed`, and writes the bytes that it brings into
  // `bytes`. Returns false if it is not authentic.
  bool Open(Bytes sealed, std::vector<std::byte>& bytes);

 private:
  CryptoKey key_;
  internal::CipherState state_;
  bool began_ = false;
};

}  // namespace slimgraph
