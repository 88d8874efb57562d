// Encrypted streams of the tcp transport: all bytes arrive, none can be read on the way, and
// whatever is changed on the way ends the stream.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/fabric/internal/tcp/stream.h"
#include "tests/fabric/conformance.h"

namespace slimgraph {
namespace {

class Wire {
 public:
  Wire() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    from_.Reset(ends[0]);
    to_.Reset(ends[1]);
  }
  int from() const { return from_.get(); }
  int to() const { return to_.get(); }
  void HangUp() { from_.Reset(); }

 private:
  UniqueFd from_;
  UniqueFd to_;
};

constexpr CryptoKey kKey{std::byte{7}};

// What a queue that encrypts sends for these bytes.
std::vector<std::byte> Sealed(Bytes bytes) {
  Wire wire;
  SendQueue queue;
  queue.Encrypt(kKey);
  queue.Refer(bytes);
  std::vector<std::byte> all;
  std::array<std::byte, 4096> chunk;
  while (true) {
    const StreamState state = queue.Flush(wire.from());
    ssize_t got = 0;
    while ((got = ::read(wire.to(), chunk.data(), chunk.size())) > 0) {
      all.insert(all.end(), chunk.begin(), chunk.begin() + got);
    }
    if (state == StreamState::kDone) return all;
  }
}

// Receives what is left of a stream of `bytes` bytes. Returns those that were received.
std::vector<std::byte> Receive(Bytes sealed, std::size_t bytes, const CryptoKey& key, bool& whole) {
  Wire wire;
  ReceiveBuffer in(kReceiveBytes);
  in.Decrypt(key);
  std::vector<std::byte> received(bytes);
  MutableBytes rest(received);
  StreamState state = StreamState::kBlocked;
  while (!IsOver(state) && !rest.empty()) {
    const ssize_t sent = ::write(wire.from(), sealed.data(), sealed.size());
    if (sent > 0) sealed = sealed.subspan(static_cast<std::size_t>(sent));
    if (sealed.empty()) wire.HangUp();
    in.Refresh();
    state = in.Move(wire.to(), rest);
  }
  whole = rest.empty();
  received.resize(bytes - rest.size());
  return received;
}

TEST(SealedStream, BringsAllBytesWhateverTheirPieces) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 30; ++round) {
    Wire wire;
    SendQueue queue;
    queue.Encrypt(kKey);
    ReceiveBuffer in(kReceiveBytes);
    in.Decrypt(kKey);
    std::vector<std::vector<std::byte>> pieces;
    std::size_t total = 0;
    for (int i = 0; i < 40; ++i) {
      const std::size_t bytes = random() % (i % 7 == 0 ? 100'000 : 300);
      pieces.push_back(Pattern(bytes, random()));
      total += bytes;
    }
    std::size_t queued = 0;
    std::size_t received = 0;
    std::size_t piece = 0;  // that is received
    std::vector<std::byte> got;
    while (received < total) {
      for (std::size_t n = random() % 4; n > 0 && queued < pieces.size(); --n, ++queued) {
        if (random() % 2 == 0) {
          queue.Copy(pieces[queued]);
        } else {
          queue.Refer(pieces[queued]);
        }
      }
      ASSERT_FALSE(IsOver(queue.Flush(wire.from())));
      in.Refresh();
      while (piece < queued) {
        std::vector<std::byte>& expected = pieces[piece];
        got.resize(expected.size());
        MutableBytes rest(got);
        // A part of the piece may be needed before, as for headers.
        const std::size_t head = std::min<std::size_t>(expected.size(), random() % 100);
        StreamState state = in.Need(wire.to(), head, random() % 2 == 0 ? 0 : 5000);
        while (state == StreamState::kBlocked || !rest.empty()) {
          ASSERT_FALSE(IsOver(state));
          ASSERT_FALSE(IsOver(queue.Flush(wire.from())));
          in.Refresh();
          state = in.Move(wire.to(), rest);
        }
        ASSERT_EQ(got, expected);
        received += expected.size();
        ++piece;
      }
    }
    EXPECT_TRUE(queue.empty());
  }
}

TEST(SealedStream, CannotBeReadOnTheWay) {
  const std::vector<std::byte> bytes(50'000, std::byte{'a'});
  const std::vector<std::byte> sealed = Sealed(bytes);
  EXPECT_GT(sealed.size(), bytes.size());
  const std::vector<std::byte> word(4, std::byte{'a'});
  EXPECT_EQ(std::search(sealed.begin(), sealed.end(), word.begin(), word.end()), sealed.end());
  EXPECT_NE(Sealed(bytes), sealed) << "two streams are encrypted alike";
}

TEST(SealedStream, EndsWhereItWasChanged) {
  std::mt19937_64 random(TestSeed());
  const std::vector<std::byte> bytes = Pattern(40'000, 1);
  const std::vector<std::byte> sealed = Sealed(bytes);
  bool whole = false;
  EXPECT_EQ(Receive(sealed, bytes.size(), kKey, whole), bytes);
  EXPECT_TRUE(whole);
  const auto expect_prefix = [&](const std::vector<std::byte>& changed, const CryptoKey& key,
                                 std::size_t most, const std::string& what) {
    const auto received = Receive(changed, bytes.size(), key, whole);
    EXPECT_FALSE(whole) << what;
    EXPECT_LE(received.size(), most) << what;
    EXPECT_TRUE(std::equal(received.begin(), received.end(), bytes.begin())) << what;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> changed = sealed;
    // The header, the lengths and all else.
    const std::size_t at = round < 24   ? static_cast<std::size_t>(round)
                           : round < 28 ? static_cast<std::size_t>(round)
                                        : random() % sealed.size();
    changed[at] ^= std::byte{1} << (random() % 8);
    expect_prefix(changed, kKey, at, fmt::format("a bit of byte {}", at));
  }
  constexpr std::size_t kHeader = 24;
  constexpr std::size_t kRecord = StreamOpener::kMostSealedBytes;
  const auto at = [&](std::size_t record) {
    return sealed.begin() + static_cast<std::ptrdiff_t>(kHeader + record * kRecord);
  };
  std::vector<std::byte> changed(sealed.begin(), at(1));
  changed.insert(changed.end(), at(0), sealed.end());
  expect_prefix(changed, kKey, kMostRecordBytes, "a record repeated");
  changed.assign(sealed.begin(), at(1));
  changed.insert(changed.end(), at(2), sealed.end());
  expect_prefix(changed, kKey, kMostRecordBytes, "a record left out");
  changed.assign(sealed.begin(), at(0));
  changed.insert(changed.end(), at(1), at(2));
  changed.insert(changed.end(), at(0), at(1));
  changed.insert(changed.end(), at(2), sealed.end());
  expect_prefix(changed, kKey, 0, "two records exchanged");
  expect_prefix(Sealed(bytes), CryptoKey{std::byte{8}}, 0, "another key");
}

}  // namespace
}  // namespace slimgraph
