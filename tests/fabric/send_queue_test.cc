// The queue of bytes that the tcp transport sends.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

#include "slimgraph/base/unique_fd.h"
#include "slimgraph/fabric/internal/tcp/stream.h"

namespace slimgraph {
namespace {

// Every piece is in turn the only one that is left, so that it also lies at the end of what the
// queue has allocated.
TEST(SendQueue, SendsAllBytesWhereverItsLastPieceLies) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  const UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  std::vector<std::byte> sent(std::size_t{1} << 20);
  std::vector<std::byte> received(sent.size());
  SendQueue queue;
  for (int round = 0; round < 400; ++round) {
    const auto head = static_cast<std::byte>(round);
    sent.back() = head;
    queue.Copy(Bytes(&head, 1));
    queue.Refer(sent);
    std::vector<std::byte> heads(1);
    std::size_t at = 0;
    const auto receive = [&](MutableBytes into) {
      const ssize_t bytes = ::read(to.get(), into.data(), into.size());
      return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{0};
    };
    EXPECT_EQ(queue.Flush(from.get()), StreamState::kBlocked);
    ASSERT_EQ(receive(heads), 1);
    EXPECT_EQ(heads[0], head);
    while (at < received.size()) {
      static_cast<void>(queue.Flush(from.get()));
      const std::size_t bytes = receive(MutableBytes(received).subspan(at));
      ASSERT_GT(bytes, 0);
      at += bytes;
    }
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(received.back(), head);
  }
}

}  // namespace
}  // namespace slimgraph
