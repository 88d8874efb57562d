// The bytes that a stranger or a member of the job may send to the port of a hub. Any bytes must
// give frames or an error, and a list of strings that was unpacked must pack to the same bytes.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "slimgraph/base/check.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/launch/joining.h"

namespace slimgraph {
namespace {

constexpr NodeId kNodes = 4;

const HandshakeKey& Key() {
  static const HandshakeKey key = *HandshakeKey::Derive("the secret", "join");
  return key;
}

void Look(const Frame& frame) {
  if (CheckFrame(frame, kNodes)) {
    SLIM_CHECK(frame.node < kNodes);
    SLIM_CHECK(frame.type != FrameType::kPartAborted || frame.exchange.tag < kNumBaseTags);
  }
  if (const auto strings = UnpackStrings(frame.body)) {
    SLIM_CHECK(PackStrings(*strings) == frame.body);
  }
  Challenges challenges;
  (void)ReadChallenge(frame);
  // The fuzzer does not know the secret, so no input can prove knowledge of it.
  SLIM_CHECK(!ReadHello(Key(), challenges, frame));
  SLIM_CHECK(!ReadWelcome(Key(), challenges, frame));
}

void ReadAll(const std::uint8_t* data, std::size_t size, std::uint32_t max_bytes) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return;
  UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  FrameReader reader(max_bytes);
  bool open = true;
  while (open) {
    // Send pieces of varying sizes, so that frames arrive in parts.
    const std::size_t piece = std::min<std::size_t>(size, 1 + size % 999);
    if (piece > 0) {
      (void)!::send(from.get(), data, piece, MSG_NOSIGNAL);
      data += piece;
      size -= piece;
    } else {
      from.Reset();
    }
    open = reader.Fill(to.get()) && from;
    while (true) {
      const auto frame = reader.Next();
      if (!frame) return;
      if (!*frame) break;
      SLIM_CHECK((*frame)->body.size() <= max_bytes && (*frame)->type <= kLastFrameType);
      Look(**frame);
    }
  }
}

}  // namespace
}  // namespace slimgraph

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using slimgraph::ReadAll;
  ReadAll(data, size, slimgraph::kMaxJoiningBytes);
  ReadAll(data, size, slimgraph::kMaxFrameBytes);
  ReadAll(data, size, 64);
  return 0;
}
