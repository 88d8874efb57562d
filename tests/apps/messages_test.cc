// What the command says to a new user who makes a mistake: one line, which says what to do.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

class Messages : public ::testing::Test {
 protected:
  std::string Written(const std::string& name, const std::string& text) const {
    WriteText(scratch_.File(name), text);
    return scratch_.File(name);
  }

  // Expects the exit code, nothing on standard output, and one line on standard error, which
  // contains `says`. The announcement of memory does not count.
  static void ExpectLine(const CommandEnd& end, int code, const std::string& says) {
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_EQ(end.out, "");
    std::string err = end.err;
    if (const std::size_t takes = err.find(" takes "); takes < err.find('\n')) {
      err.erase(0, err.find('\n') + 1);
    }
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << end.err;
    EXPECT_NE(err.find(says), std::string::npos) << end.err;
  }

  std::string Kron() const {
    const std::string path = scratch_.File("k.slim");
    EXPECT_EQ(RunSlimgraph({"gen", "kron", "-s", "8", "-o", path}).code, 0);
    return path;
  }

  ScratchDirectory scratch_;
};

TEST_F(Messages, AHeaderIsSkippedAndShown) {
  const std::string graph = scratch_.File("g.slim");
  const CommandEnd end = RunSlimgraph(
      {"convert", Written("g.txt", "# comment\nsrc dst\r\n1 2\n2 3\n"), graph, "--directed"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("3 vertices, 2 edges"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("skipped the header \"src dst\""), std::string::npos) << end.out;
}

TEST_F(Messages, ALineWithoutNumbersIsExplained) {
  ExpectLine(RunSlimgraph({"convert", Written("g.txt", "1 2\nsrc dst\n"), scratch_.File("g.slim"),
                           "--directed"}),
             3, "g.txt:2: expected \"src dst\", found \"src dst\", a line without numbers: ");
}

TEST_F(Messages, SsspOffersUnitWeightsWhichCountEdges) {
  const std::string graph = scratch_.File("g.slim");
  ASSERT_EQ(
      RunSlimgraph({"convert", Written("g.txt", "1 2\n2 3\n3 4\n"), graph, "--directed"}).code, 0);
  ExpectLine(RunSlimgraph({"sssp", graph, "--source", "1"}), 3, "--unit-weights");
  // Weights that a graph has do not count either.
  const std::string weighted = scratch_.File("w.slim");
  ASSERT_EQ(RunSlimgraph({"convert", Written("w.txt", "1 2 7\n2 3 8\n3 4 9\n"), weighted,
                          "--directed", "--weighted"})
                .code,
            0);
  for (const std::string& one : {graph, weighted}) {
    for (const char* const compute : {"1", "4"}) {
      const CommandEnd end =
          RunSlimgraph({"sssp", one, "--source", "1", "--unit-weights", "--verify", "--nodes", "4",
                        "--compute", compute, "--output", scratch_.File("out")});
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(ReadText(scratch_.File("out")), "1 0\n2 1\n3 2\n4 3\n") << one;
    }
  }
  ExpectLine(RunSlimgraph({"convert", scratch_.File("g.txt"), graph, "--directed", "--weighted"}),
             3, "g.txt:1: expected \"src dst weight\", found \"1 2\": leave out --weighted");
}

TEST_F(Messages, TooLittleMemoryAndTooFewFilesAreSaidBeforeNodesStart) {
  const std::string graph = Kron();
  ExpectLine(RunSlimgraph({"scan", graph, "--nodes", "2", "--node-memory", "10"}), 2,
             "--node-memory: 10 B is too little");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto with_limit = [&](rlim_t soft, rlim_t hard) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit limit{soft, hard};
      ::setrlimit(RLIMIT_NOFILE, &limit);
      const std::string out = scratch_.File("out");
      const std::string err = scratch_.File("err");
      if (std::freopen(out.c_str(), "w", stdout) == nullptr ||
          std::freopen(err.c_str(), "w", stderr) == nullptr) {
        ::_exit(99);
      }
      ::execl(CommandPath().c_str(), "slimgraph", "scan", graph.c_str(), "--nodes", "4", nullptr);
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CommandEnd end;
    end.code = WEXITSTATUS(status);
    end.out = ReadText(scratch_.File("out"));
    end.err = ReadText(scratch_.File("err"));
    return end;
  };
  ExpectLine(with_limit(16, 16), 4, "needs 56 open files, and a process here may have 16");
  // A soft limit is raised.
  EXPECT_EQ(with_limit(16, before.rlim_max).code, 0) << ReadText(scratch_.File("err"));
  // The least that is accepted suffices.
  EXPECT_EQ(with_limit(56, 56).code, 0) << ReadText(scratch_.File("err"));
}

TEST_F(Messages, CompressedDataIsRecognisedUnderAnyName) {
  const std::string plain = Written("g.txt", "1 2\n2 3\n");
  for (const char* const compress : {"gzip -c ", "zstd -q -c "}) {
    const std::string other = scratch_.File("other.txt");
    if (std::system((compress + plain + " >" + other).c_str()) != 0) GTEST_SKIP() << compress;
    const CommandEnd end =
        RunSlimgraph({"convert", other, scratch_.File("g.slim"), "--undirected"});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_NE(end.out.find("3 vertices, 2 edges"), std::string::npos) << end.out;
  }
}

TEST_F(Messages, WhatIsMissingIsSaidAlikeForFilesAndStores) {
  ExpectLine(RunSlimgraph({"info", scratch_.File("no.slim")}), 3, "no.slim: there is no such file");
  ExpectLine(RunSlimgraph({"store", "export", scratch_.File("no"), "-o", scratch_.File("g.slim")}),
             3, "no: there is no such store; `slimgraph store create` makes one");
}

TEST_F(Messages, AMissingLauncherIsOneLine) {
  ExpectLine(RunSlimgraph({"scan", Kron(), "--nodes", "2"}, {"PATH=/no/such/folder"}), 4,
             "no node could start: cannot start mpiexec.hydra: No such file or directory; apt-get");
}

TEST_F(Messages, AWrongCommandNamesTheRightOne) {
  const auto says = [](const std::vector<std::string>& words, const std::string& line) {
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.err, "slimgraph: " + line + "\n");
    EXPECT_EQ(end.code, 2);
  };
  says({"bnech"}, "there is no command 'bnech' (did you mean bench fabric?); see slimgraph --help");
  says({"compnents"}, "there is no command 'compnents' (did you mean cc?); see slimgraph --help");
  says({"clustering-coefficient"},
       "there is no command 'clustering-coefficient' (did you mean lcc?); see slimgraph --help");
  says(
      {"pagerank", "g.slim", "--iteration=3"},
      "pagerank takes no option --iteration=3 (did you mean --iterations?); see slimgraph pagerank "
      "--help");
  says({"bc", "g.slim", "--sorce", "3"},
       "bc takes no option --sorce (did you mean --sources?); see slimgraph bc --help");
  says(
      {"pagerank", "g.slim", "--mem", "3"},
      "pagerank takes no option --mem (did you mean --memory-side or --memory-cpu?); see slimgraph "
      "pagerank --help");
  says({"cc", "g.slim", "--colour"}, "cc takes no option --colour; see slimgraph cc --help");
  says({"help", "sspp"}, "there is no command 'sspp' (did you mean sssp?); see slimgraph --help");
  says({"qqqqqq"}, "there is no command 'qqqqqq'; see slimgraph --help");
  says({"store", "exprot"},
       "there is no command 'store exprot' (did you mean store export?); see slimgraph store "
       "--help");
  says({"store"}, "a command is missing; see slimgraph store --help");
  says({"bfs", "g.slim", "--source", "1", "--sorce"},
       "bfs takes no option --sorce (did you mean --source?); see slimgraph bfs --help");
}

// As root, files without write permission can be written, so a child changes its user.
TEST_F(Messages, TransactionsRunOnAStoreThatCannotBeWritten) {
  namespace fs = std::filesystem;
  const std::string store = scratch_.File("store");
  ASSERT_EQ(RunSlimgraph({"store", "create", Kron(), "--edge-bytes", "8", "-o", store}).code, 0);
  ASSERT_EQ(RunSlimgraph({"store", "apply", store, "--from", Written("u", "+ 1 2 03\n")}).code, 0);
  std::vector<std::string> run = {CommandPath(), "txn",     "run", "--workload",
                                  "linkbench",   "--store", store, "--transactions",
                                  "50",          "--nodes", "2"};
  if (::getuid() == 0) {
    for (const std::string& file : {scratch_.path(), store}) {
      fs::permissions(file, fs::perms(0555));
    }
    run.insert(run.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  } else {
    fs::permissions(store, fs::perms(0555));
  }
  const CommandEnd end = RunningCommand(run).Wait();
  fs::permissions(scratch_.path(), fs::perms(0755));
  fs::permissions(store, fs::perms(0755));
  if (end.code == 127 || end.err.find("setpriv:") == 0) GTEST_SKIP() << end.err;
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("occ is taken, because --protocol is not given"), std::string::npos)
      << end.err;
  for (const auto& entry : fs::directory_iterator(store)) {
    EXPECT_EQ(entry.path().filename().string().find("image"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace slimgraph
