#include "slimgraph/base/crypto.h"

#include <sodium.h>

#include <cstring>
#include <span>

namespace slimgraph {
namespace {

using SodiumStream = crypto_secretstream_xchacha20poly1305_state;
constexpr std::size_t kHeaderBytes = crypto_secretstream_xchacha20poly1305_HEADERBYTES;

static_assert(std::tuple_size_v<CryptoKey> == crypto_auth_BYTES);
static_assert(std::tuple_size_v<CryptoKey> == crypto_secretbox_KEYBYTES);
static_assert(std::tuple_size_v<CryptoKey> == crypto_secretstream_xchacha20poly1305_KEYBYTES);
static_assert(StreamOpener::kExtraBytes == crypto_secretstream_xchacha20poly1305_ABYTES);
static_assert(sizeof(SodiumStream) <= sizeof(internal::CipherState));

using Nonce = std::array<unsigned char, crypto_secretbox_NONCEBYTES>;

Nonce NonceOf(std::uint64_t number) {
  Nonce nonce{};
  std::memcpy(nonce.data(), &number, sizeof number);
  return nonce;
}

const unsigned char* DataOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
const unsigned char* DataOf(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* DataOf(MutableBytes bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

SodiumStream* StreamOf(internal::CipherState& state) {
  return reinterpret_cast<SodiumStream*>(state.bytes.data());
}

}  // namespace

Status StartCrypto() {
  if (::sodium_init() < 0) return EnvironmentError("libsodium does not start on this system");
  return {};
}

CryptoKey HashOf(std::initializer_list<std::string_view> texts) {
  CryptoKey hash;
  crypto_generichash_state state;
  ::crypto_generichash_init(&state, nullptr, 0, hash.size());
  for (const std::string_view text : texts) {
    ::crypto_generichash_update(&state, DataOf(text), text.size());
  }
  ::crypto_generichash_final(&state, DataOf(MutableBytes(hash)), hash.size());
  return hash;
}

CryptoKey KeyedHashOf(const CryptoKey& key, std::initializer_list<Bytes> parts) {
  crypto_auth_hmacsha512256_state state;
  ::crypto_auth_hmacsha512256_init(&state, DataOf(Bytes(key)), key.size());
  for (const Bytes part : parts) {
    ::crypto_auth_hmacsha512256_update(&state, DataOf(part), part.size());
  }
  CryptoKey hash;
  ::crypto_auth_hmacsha512256_final(&state, DataOf(MutableBytes(hash)));
  return hash;
}

bool SameHash(const CryptoKey& a, const CryptoKey& b) {
  return ::sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string SealMessage(const CryptoKey& key, std::uint64_t number, std::string_view message) {
  const Nonce nonce = NonceOf(number);
  std::string sealed(crypto_secretbox_MACBYTES + message.size(), '\0');
  ::crypto_secretbox_easy(reinterpret_cast<unsigned char*>(sealed.data()), DataOf(message),
                          message.size(), nonce.data(), DataOf(Bytes(key)));
  return sealed;
}

std::optional<std::string> OpenMessage(const CryptoKey& key, std::uint64_t number,
                                       std::string_view sealed) {
  if (sealed.size() < crypto_secretbox_MACBYTES) return std::nullopt;
  const Nonce nonce = NonceOf(number);
  std::string message(sealed.size() - crypto_secretbox_MACBYTES, '\0');
  if (::crypto_secretbox_open_easy(reinterpret_cast<unsigned char*>(message.data()), DataOf(sealed),
                                   sealed.size(), nonce.data(), DataOf(Bytes(key))) != 0) {
    return std::nullopt;
  }
  return message;
}

StreamSealer::StreamSealer(const CryptoKey& key) : header_(kHeaderBytes) {
  ::crypto_secretstream_xchacha20poly1305_init_push(StreamOf(state_), DataOf(MutableBytes(header_)),
                                                    DataOf(Bytes(key)));
}

void StreamSealer::Seal(Bytes bytes, std::vector<std::byte>& sealed) {
  sealed.insert(sealed.end(), header_.begin(), header_.end());
  header_.clear();
  const auto length = static_cast<std::uint32_t>(bytes.size() + StreamOpener::kExtraBytes);
  const std::size_t at = sealed.size();
  sealed.resize(at + sizeof length + length);
  const MutableBytes record = MutableBytes(sealed).subspan(at);
  std::memcpy(record.data(), &length, sizeof length);
  ::crypto_secretstream_xchacha20poly1305_push(
      StreamOf(state_), DataOf(record.subspan(sizeof length)), nullptr, DataOf(bytes), bytes.size(),
      DataOf(Bytes(record)), sizeof length, 0);
}

std::optional<std::size_t> StreamOpener::BytesOfNext(Bytes sealed) const {
  if (!began_) return kHeaderBytes;
  if (sealed.size() < kLengthBytes) return kLengthBytes;
  std::uint32_t length = 0;
  std::memcpy(&length, sealed.data(), sizeof length);
  if (length < kExtraBytes || length > kMostSealedBytes - kLengthBytes) return std::nullopt;
  return kLengthBytes + length;
}

bool StreamOpener::Open(Bytes sealed, std::vector<std::byte>& bytes) {
  bytes.clear();
  if (!began_) {
    began_ = true;
    return ::crypto_secretstream_xchacha20poly1305_init_pull(StreamOf(state_), DataOf(sealed),
                                                             DataOf(Bytes(key_))) == 0;
  }
  const Bytes record = sealed.subspan(kLengthBytes);
  bytes.resize(record.size() - kExtraBytes);
  return ::crypto_secretstream_xchacha20poly1305_pull(
             StreamOf(state_), DataOf(MutableBytes(bytes)), nullptr, nullptr, DataOf(record),
             record.size(), DataOf(sealed), kLengthBytes) == 0;
}

}  // namespace slimgraph
