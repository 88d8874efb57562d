#include "slimgraph/fabric/internal/tcp/cipher.h"

#include <cstring>
#include <span>

namespace slimgraph {
namespace {

static_assert(sizeof(Proof) == crypto_secretstream_xchacha20poly1305_KEYBYTES);

const unsigned char* DataOf(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

StreamSealer::StreamSealer(const Proof& key) {
  ::crypto_secretstream_xchacha20poly1305_init_push(&state_, header_.data(), DataOf(key));
}

void StreamSealer::Seal(Bytes bytes, std::vector<std::byte>& sealed) {
  if (!began_) {
    const Bytes header = std::as_bytes(std::span(header_));
    sealed.insert(sealed.end(), header.begin(), header.end());
    began_ = true;
  }
  const auto length =
      static_cast<std::uint32_t>(bytes.size() + crypto_secretstream_xchacha20poly1305_ABYTES);
  const std::size_t at = sealed.size();
  sealed.resize(at + sizeof length + length);
  std::memcpy(sealed.data() + at, &length, sizeof length);
  const auto* const marked = reinterpret_cast<const unsigned char*>(sealed.data() + at);
  ::crypto_secretstream_xchacha20poly1305_push(
      &state_, reinterpret_cast<unsigned char*>(sealed.data() + at + sizeof length), nullptr,
      DataOf(bytes), bytes.size(), marked, sizeof length, 0);
}

std::optional<std::size_t> StreamOpener::BytesOfNext(Bytes sealed) const {
  if (!began_) return crypto_secretstream_xchacha20poly1305_HEADERBYTES;
  if (sealed.size() < kLengthBytes) return kLengthBytes;
  std::uint32_t length = 0;
  std::memcpy(&length, sealed.data(), sizeof length);
  if (length < crypto_secretstream_xchacha20poly1305_ABYTES ||
      length > kMostSealedBytes - kLengthBytes) {
    return std::nullopt;
  }
  return kLengthBytes + length;
}

bool StreamOpener::Open(Bytes sealed, std::vector<std::byte>& bytes) {
  bytes.clear();
  if (!began_) {
    began_ = true;
    return ::crypto_secretstream_xchacha20poly1305_init_pull(&state_, DataOf(sealed),
                                                             DataOf(key_)) == 0;
  }
  const Bytes record = sealed.subspan(kLengthBytes);
  bytes.resize(record.size() - crypto_secretstream_xchacha20poly1305_ABYTES);
  return ::crypto_secretstream_xchacha20poly1305_pull(
             &state_, reinterpret_cast<unsigned char*>(bytes.data()), nullptr, nullptr,
             DataOf(record), record.size(), DataOf(sealed), kLengthBytes) == 0;
}

}  // namespace slimgraph
