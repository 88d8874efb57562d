// Pools that are shared with readers, who run jobs there and change nothing else.
#include "slimgraph/pool/sharing.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "slimgraph/base/confine.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/pool/internal/conversation.h"
#include "tests/pool/programs.h"
#include "tests/support/lost_call.h"

namespace slimgraph::test {
namespace {

using internal::Conversation;
using internal::Words;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The pool p has a graph g on two nodes. Its readers have a folder of their own, where it is "r".
class SharedPools : public Pools {
 protected:
  void SetUp() override {
    if (!CanConfine()) GTEST_SKIP() << "this kernel has no Landlock";
    pool_ = Start("p", 2);
    Unwrap(Load("p", "g", "5000"));
    Share();
  }
  template <typename Work>
  auto AsReader(Work work) {
    struct Back {
      std::string folder;
      ~Back() { ::setenv("SLIMGRAPH_POOLS", folder.c_str(), 1); }
    } const back{File("pools")};
    ::setenv("SLIMGRAPH_POOLS", File("readers").c_str(), 1);
    return work();
  }
  void Share() {
    WriteText(File("shared"), Unwrap(DescriptorForReaders("p")));
    AsReader([&] { Unwrap(AddPool(File("shared"), "r")); });
  }
  PoolDescriptor ReadersDescriptor() {
    return AsReader([] { return Unwrap(ReadDescriptor("r")); });
  }
  // What a node answers to one request of a client with this descriptor.
  static Result<Words> Ask(const PoolDescriptor& pool, const Words& request) {
    SLIM_ASSIGN(auto node, Conversation::Open(pool, 1));
    return node.Ask(request);
  }

  PoolDescriptor pool_;
};

TEST_F(SharedPools, RunJobsOfReaders) {
  for (const NodeId compute : {1U, 2U}) {
    EXPECT_THAT(Unwrap(AsReader([&] { return RunJob("r", "g", compute); })),
                ElementsAre("g 5000 of 2: 0, 5000", "g 5000 of 2: 1, 5000"));
  }
  EXPECT_THAT(Unwrap(AsReader([&] { return RunJob("r", "g", 1, kJobCommand, "upper"); })),
              ElementsAre("g upper 5000 of 2: 0, 5000", "g upper 5000 of 2: 1, 5000"));
  EXPECT_THAT(Unwrap(RunJob("p", "g", 1)),
              ElementsAre("g 5000 of 2: 0, 5000", "g 5000 of 2: 1, 5000"));
}

// By itself, whatever the client's code does.
TEST_F(SharedPools, RefuseEveryOtherRequest) {
  const std::vector<Words> refused = {
      {"load", "h", "1", File("g.words"), "g.words"},
      {"keep"},
      {"drop", "g"},
      {"confirm"},
      {"hold-still"},
      {"stop"},
      {"surprise"},
  };
  const PoolDescriptor readers = ReadersDescriptor();
  for (const Words& request : refused) {
    const auto answer = Ask(readers, request);
    ASSERT_FALSE(answer) << request[0];
    EXPECT_THAT(answer.error().message, HasSubstr("is shared for reading")) << request[0];
  }
  EXPECT_TRUE(Ask(readers, {"status"}));
  EXPECT_TRUE(Ask(readers, {"find", "g"}));
  EXPECT_TRUE(Ask(pool_, {"confirm"}));
  EXPECT_TRUE(Ask(pool_, {"drop", "g"}));
}

TEST_F(SharedPools, TellReadersWhoMay) {
  AsReader([&] {
    const auto expect = [](const auto& result, const char* said) {
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().exit_code(), 4);
      EXPECT_THAT(result.error().message, HasSubstr("pool 'r' is shared with you for reading"));
      EXPECT_THAT(result.error().message, HasSubstr(said));
    };
    expect(LoadIntoPool({.pool = "r", .graph = "h", .file = File("g.words")}), "loads graphs");
    expect(DropFromPool("r", "g"), "drops graphs");
    expect(StopPool("r", false), "pool forget r");
    expect(StopPool("r", true), "pool forget r");
    expect(StartPool({.name = "r"}), "starts its nodes again");
    expect(DescriptorForReaders("r"), "shares it");
    const auto over_shm =
        Attachment::Make({.pool = "r", .graph = "g", .transport = "shm", .words = {kJobCommand}});
    ASSERT_FALSE(over_shm);
    EXPECT_EQ(over_shm.error().exit_code(), 2);
    EXPECT_THAT(over_shm.error().message, HasSubstr("--transport tcp"));
    EXPECT_TRUE(Unwrap(ListPools())[0].read_only);
  });
  EXPECT_FALSE(Unwrap(ListPools())[0].read_only);
}

TEST_F(SharedPools, KeepTheirKeyFromReaders) {
  const PoolDescriptor readers = ReadersDescriptor();
  EXPECT_NE(readers.key, pool_.key);
  EXPECT_THAT(ReadText(File("shared")), Not(HasSubstr(pool_.key)));
  struct stat info;
  ASSERT_EQ(::stat(DescriptorPath(File("readers"), "r").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
  // A descriptor that leaves out that it only reads does not help, and neither does another key.
  PoolDescriptor liar = readers;
  liar.read_only = false;
  EXPECT_THAT(Ask(liar, {"drop", "g"}).error().message, HasSubstr("is shared for reading"));
  liar.key = Unwrap(KeyOfReaders(readers.key));
  EXPECT_THAT(Ask(liar, {"status"}).error().message, HasSubstr("does not accept the key"));
}

// The words of a job can be any command.
TEST_F(SharedPools, ConfineTheDeputiesOfReaders) {
  const std::string made = File("made-by-a-deputy");
  const auto attach = [&](const char* name) {
    Unwrap(Attachment::Make({.pool = name, .graph = "g", .words = {kWritingJobCommand, made}}));
    EXPECT_TRUE(AwaitProcesses(2));
    return ::access(made.c_str(), F_OK) == 0;
  };
  EXPECT_FALSE(AsReader([&] { return attach("r"); }));
  EXPECT_TRUE(attach("p"));
}

TEST_F(SharedPools, LetReadersEndTheirOwnJobsAlone) {
  const auto own = Unwrap(
      Attachment::Make({.pool = "p", .graph = "g", .resizable = true, .words = {kDeafJobCommand}}));
  const std::string job = fmt::format("{}", ::getpid());
  const PoolDescriptor readers = ReadersDescriptor();
  EXPECT_THAT(AsReader([&] { return CancelJob("r", job); }).error().message,
              HasSubstr("not of somebody with whom the pool is shared"));
  EXPECT_THAT(AsReader([&] { return ResizeJob("r", job, 2); }).error().message,
              HasSubstr("not of somebody with whom the pool is shared"));
  EXPECT_EQ(own->WhyUnwanted(), "");
  EXPECT_FALSE(own->TakeResize());
  Unwrap(CancelJob("p", job));

  const auto readers_job = AsReader([&] {
    return Unwrap(Attachment::Make({.pool = "r", .graph = "g", .words = {kDeafJobCommand}}));
  });
  EXPECT_TRUE(AsReader([&] { return CancelJob("r", job); }));
  EXPECT_THAT(readers_job->WhyUnwanted(), HasSubstr("cancelled"));
}

TEST_F(SharedPools, AreAddedAndForgotten) {
  AsReader([&] {
    Unwrap(ForgetPool("r"));
    EXPECT_TRUE(Unwrap(ListPools()).empty());
    EXPECT_THAT(ForgetPool("r").error().message, HasSubstr("there is no pool 'r'"));
    EXPECT_EQ(Unwrap(AddPool(File("shared"), "")).name, "p");
    Unwrap(AddPool(File("shared"), ""));  // again
    EXPECT_THAT(AddPool(File("shared"), "a/b").error().message, HasSubstr("is no name for a pool"));
    EXPECT_THAT(AddPool(File("none"), "").error().message, HasSubstr("there is no such file"));
    EXPECT_THAT(AddPool(File("g.words"), "").error().message, HasSubstr("not a pool's descriptor"));
  });
  // Not in the place of a pool of one's own.
  EXPECT_THAT(AddPool(File("shared"), "").error().message, HasSubstr("give another name by --as"));
  EXPECT_THAT(ForgetPool("p").error().message, HasSubstr("'slimgraph pool stop p' ends it"));
  Unwrap(AddPool(DescriptorPath(File("pools"), "p"), ""));
  EXPECT_TRUE(Ask(Unwrap(ReadDescriptor("p")), {"drop", "g"}));
  // One that was started anew has another key.
  Unwrap(StopPool("p", true));
  Start("p", 2);
  Unwrap(Load("p", "g", "5000"));
  EXPECT_FALSE(AsReader([] { return RunJob("p", "g", 1); }));
  Share();
  AsReader([&] {
    Unwrap(AddPool(File("shared"), "p"));
    Unwrap(RunJob("p", "g", 1));
  });
}

TEST_F(Pools, RefuseReadersWhereTheyCannotConfine) {
  const pid_t child = Fork([&] {
    if (!LoseCall(SYS_landlock_create_ruleset)) return;
    Start("p", 1);
    Unwrap(Load("p", "g", "5000"));
    WriteText(File("shared"), Unwrap(DescriptorForReaders("p")));
    Unwrap(AddPool(File("shared"), "r"));
    const auto refused = RunJob("r", "g", 1);
    WriteText(File("said"), refused ? "nothing" : refused.error().message);
    Unwrap(RunJob("p", "g", 1));
    WriteText(File("done"), "");
  });
  ::waitpid(child, nullptr, 0);
  if (::access(File("said").c_str(), F_OK) != 0) GTEST_SKIP() << "no seccomp filter here";
  EXPECT_THAT(ReadText(File("said")), HasSubstr("no Landlock (Linux 5.13 or newer)"));
  EXPECT_EQ(::access(File("done").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace slimgraph::test
