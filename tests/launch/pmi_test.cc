// What a node sends to the launcher of its job, and what it does if there is no answer.
#include "slimgraph/launch/internal/pmi.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "slimgraph/base/unique_fd.h"

namespace slimgraph::test {
namespace {

// Answers each line as a launcher does, except the lines for which it waits for all nodes.
void AnswerOneNode(int fd) {
  std::string line;
  for (char next = 0; ::read(fd, &next, 1) == 1;) {
    if (next != '\n') {
      line += next;
      continue;
    }
    std::string answer;
    if (line.starts_with("cmd=init")) answer = "cmd=response_to_init rc=0\n";
    if (line.starts_with("cmd=get_my_kvsname")) answer = "cmd=my_kvsname kvsname=kvs\n";
    if (line.starts_with("cmd=put")) answer = "cmd=put_result rc=0\n";
    static_cast<void>(::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL));
    line.clear();
  }
}

TEST(Pmi, TimesOutIfANodeNeverStarts) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  ::setenv("PMI_FD", std::to_string(ours.get()).c_str(), 1);
  ::setenv("PMI_RANK", "0", 1);
  ::setenv("PMI_SIZE", "2", 1);
  std::thread launcher([&] { AnswerOneNode(theirs.get()); });
  auto pmi = Pmi::Open();
  for (const char* const name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) ::unsetenv(name);
  ASSERT_TRUE(pmi) << pmi.error().message;
  const auto shared = pmi->ShareFromZero("here", std::chrono::milliseconds(50));
  ASSERT_FALSE(shared);
  EXPECT_NE(shared.error().message.find("not all of its 2 nodes have started"), std::string::npos)
      << shared.error().message;
  ours.Reset();
  launcher.join();
}

}  // namespace
}  // namespace slimgraph::test
