// The encryption of one direction of a connection (libsodium's crypto_secretstream). The stream
// begins with a random header. Then come records: the length in 4 bytes, and so many encrypted
// bytes. A record that was changed, repeated, left out or moved is not accepted, and none after it.
#pragma once

#include <sodium.h>

#include <array>
#include <optional>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/launch/handshake.h"

namespace slimgraph {

constexpr std::size_t kMostRecordBytes = 16 << 10;  // not encrypted

class StreamSealer {
 public:
  explicit StreamSealer(const Proof& key);
  // Appends a record with these bytes, at most kMostRecordBytes, to `sealed`.
  void Seal(Bytes bytes, std::vector<std::byte>& sealed);

 private:
  crypto_secretstream_xchacha20poly1305_state state_;
  std::array<unsigned char, crypto_secretstream_xchacha20poly1305_HEADERBYTES> header_;
  bool began_ = false;
};

class StreamOpener {
 public:
  static constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
  static constexpr std::size_t kMostSealedBytes =
      kLengthBytes + kMostRecordBytes + crypto_secretstream_xchacha20poly1305_ABYTES;

  explicit StreamOpener(const Proof& key) : key_(key) {}

  // How many bytes the stream takes until the end of what comes next, of which `sealed` has the
  // first; nothing if these cannot be of such a stream. Never more than kMostSealedBytes.
  std::optional<std::size_t> BytesOfNext(Bytes sealed) const;
  // Takes what comes next, all of which is in `sealed`, and writes the bytes that it brings into
  // `bytes`. Returns false if it is not authentic.
  bool Open(Bytes sealed, std::vector<std::byte>& bytes);

 private:
  const Proof key_;
  crypto_secretstream_xchacha20poly1305_state state_{};
  bool began_ = false;
};

}  // namespace slimgraph
