// `slimgraph doctor --hosts`, with a program in place of ssh that plays the hosts.
#include "apps/doctor/doctor_hosts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

constexpr const char* kFakeSsh = R"sh(#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case $1 in
  127.0.0.2) sh -c "$2" ;;
  127.0.0.3) echo "ssh: connect to host $1 port 22: No route to host" >&2; exit 255 ;;
  127.0.0.4) sh -c "$(echo "$2" | sed 's/sha256sum/echo other/')" ;;
  127.0.0.5) sh -c "$(echo "$2" | sed 's/sha256sum/true/')" ;;
  127.0.0.6) sh -c "$(echo "$2" | sed 's/date +/date -d +10seconds +/')" ;;
  127.0.0.7) sh -c "$(echo "$2" | sed 's,/dev/tcp/,/dev/null/,g')" ;;
esac
)sh";

class DoctorHosts : public ::testing::Test {
 protected:
  DoctorHosts() {
    std::filesystem::create_directory(scratch_.File("bin"));
    WriteText(scratch_.File("bin/ssh"), kFakeSsh);
    std::filesystem::permissions(scratch_.File("bin/ssh"), std::filesystem::perms(0755));
  }
  CommandEnd Run(const std::string& hosts, const std::vector<std::string>& more = {}) const {
    WriteText(scratch_.File("hosts"), hosts);
    std::vector<std::string> words = {"doctor", "--hosts", scratch_.File("hosts")};
    words.insert(words.end(), more.begin(), more.end());
    return RunSlimgraph(words, {"PATH=" + scratch_.File("bin") + ":" + std::getenv("PATH")});
  }

  ScratchDirectory scratch_;
};

TEST_F(DoctorHosts, SaysWhatIsWrongWithEachHost) {
  const std::pair<const char*, const char*> cases[] = {
      {"127.0.0.2", ""},
      {"localhost", ""},
      {"nosuch.invalid", "its name has no address"},
      {"127.0.0.3", "ssh cannot run a command there: ssh: connect to host 127.0.0.3 port 22: No"},
      {"127.0.0.4", "is another program than here"},
      {"127.0.0.5", "there is no /"},
      {"127.0.0.7", "it cannot connect to this host, at any of "},
  };
  for (const auto& [host, wrong] : cases) {
    const CommandEnd end = Run(std::string(host) + "\n");
    const bool good = wrong[0] == '\0';
    EXPECT_EQ(end.code, good ? 0 : 4) << host << end.out << end.err;
    EXPECT_NE(end.out.find(good ? "rank 0; the same program, connects to " : wrong),
              std::string::npos)
        << host << ": " << end.out;
    EXPECT_NE(end.out.find(good ? "1 ok, 0 to note, 0 bad" : "-> "), std::string::npos) << end.out;
  }
  const CommandEnd late = Run("127.0.0.6\n");
  EXPECT_EQ(late.code, 0) << late.err;
  EXPECT_NE(late.out.find("s ahead of ours"), std::string::npos) << late.out;
}

TEST_F(DoctorHosts, SaysWhichRanksLandWhere) {
  const CommandEnd end = Run("# two hosts\nlocalhost:2\n127.0.0.2:3  # more memory\nlocalhost\n");
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("ranks 0..1, 5;"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("ranks 2..4;"), std::string::npos) << end.out;
  EXPECT_NE(Run("localhost\n", {"--json"}).out.find("\"verdict\":\"good\""), std::string::npos);
}

TEST_F(DoctorHosts, RefusesAFileThatIsNoListOfHosts) {
  EXPECT_NE(Run("a:0\n").err.find("hosts:1: expected HOST or HOST:PROCESSES, found 'a:0'"),
            std::string::npos);
  EXPECT_NE(Run("# none\n").err.find("it names no host"), std::string::npos);
  EXPECT_EQ(Run("a:x\n").code, 3);
  EXPECT_EQ(RunSlimgraph({"doctor", "--hosts", scratch_.File("none")}).code, 3);
}

}  // namespace
}  // namespace slimgraph
