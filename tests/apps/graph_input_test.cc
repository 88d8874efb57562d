// Commands take a graph in any format: it is converted once, and again when it has changed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/support/command.h"

namespace slimgraph {
namespace {

namespace fs = std::filesystem;

class GraphInputs : public ::testing::Test {
 protected:
  static bool Converted(const CommandEnd& end) {
    return end.err.find("is converted to") != std::string::npos;
  }
  std::string Written(const std::string& name, const std::string& text) const {
    WriteText(scratch_.File(name), text);
    return scratch_.File(name);
  }
  // The names of all files beside the graphs, except the graphs.
  static std::vector<std::string> Hidden(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name[0] == '.') names.push_back(name);
    }
    return names;
  }
  // Random edges as text.
  static std::string Edges(int count) {
    std::string text;
    std::uint64_t random = 7;
    for (int i = 0; i < count; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      text += fmt::format("{} {}\n", random >> 40, (random >> 20) % 50'000);
    }
    return text;
  }

  ScratchDirectory scratch_;
  const std::string variable_ = "XDG_CACHE_HOME=" + scratch_.File("cache");
};

TEST_F(GraphInputs, EveryCommandTakesATextAndConvertsItOnce) {
  const std::string text = Written("g.txt", "1 2 5\n2 3 1\n1 3 1\n4 5 1\n");
  struct Case {
    std::vector<std::string> words;
    std::string expected;  // on standard output
  };
  const Case cases[] = {
      {{"bfs", text, "--undirected", "--source", "1", "-o", "-"},
       "1 0\n2 1\n3 1\n4 9223372036854775807\n5 9223372036854775807\n"},
      {{"cc", text, "--undirected", "-o", "-"}, "1 1\n2 1\n3 1\n4 4\n5 4\n"},
      {{"sssp", text, "--undirected", "--source", "1", "-o", "-"},
       "1 0\n2 2\n3 1\n4 Infinity\n5 Infinity\n"},
      {{"local", text, "--triangles", "-o", "-"}, "1 1\n2 1\n3 1\n4 0\n5 0\n"},
  };
  int conversions = 0;
  for (const char* const nodes : {"1", "4"}) {
    for (const Case& one : cases) {
      std::vector<std::string> words = one.words;
      words.insert(words.end(), {"--nodes", nodes});
      const CommandEnd end = RunSlimgraph(words, {variable_});
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(end.out, one.expected) << words[0];
      conversions += Converted(end) ? 1 : 0;
    }
  }
  // One for vertex programs, and one that is undirected for patterns whatever its format says.
  EXPECT_EQ(conversions, 2);
  EXPECT_EQ(Hidden(scratch_.path()).size(), 2U);
  for (const char* const command : {"scan", "pagerank", "triangles"}) {
    std::vector<std::string> words = {command, text, "--nodes", "2"};
    if (command[0] != 't') words.emplace_back("--undirected");
    const CommandEnd end = RunSlimgraph(words, {variable_});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_FALSE(Converted(end)) << end.err;
    EXPECT_NE(end.out.find(text), std::string::npos) << "the result names the user's file";
    EXPECT_EQ(end.out.find(".slim"), std::string::npos) << end.out;
    words.emplace_back("--json");
    EXPECT_EQ(RunSlimgraph(words, {variable_}).out.find(".slim"), std::string::npos);
  }
}

TEST_F(GraphInputs, APatternIsMinedInADirectedGraphAsIfItWereUndirected) {
  const std::string matrix =
      Written("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n");
  const CommandEnd end = RunSlimgraph({"triangles", matrix}, {variable_});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find("triangles: 1\n"), std::string::npos) << end.out;
}

TEST_F(GraphInputs, AGraphThatHasChangedIsConvertedAgain) {
  const std::string text = scratch_.File("g.txt");
  const std::vector<std::string> words = {"cc", text, "--undirected", "-o", "-"};
  std::string before;
  // The contents keep their size, so that only the time of change differs.
  for (const char* const edges : {"1 2\n3 4\n", "1 3\n2 4\n", "1 4\n2 3\n"}) {
    WriteText(text, edges);
    const CommandEnd end = RunSlimgraph(words, {variable_});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_TRUE(Converted(end)) << edges;
    EXPECT_NE(end.out, before);
    EXPECT_EQ(RunSlimgraph(words, {variable_}).out, end.out);
    EXPECT_EQ(Hidden(scratch_.path()).size(), 1U) << "the older one is removed";
    before = end.out;
  }
  // So is one whose converted file is damaged.
  const std::string cached = scratch_.File(Hidden(scratch_.path())[0]);
  fs::resize_file(cached, 4096);
  const CommandEnd end = RunSlimgraph(words, {variable_});
  EXPECT_TRUE(Converted(end));
  EXPECT_EQ(end.out, before) << end.err;
}

TEST_F(GraphInputs, SeveralCommandsAtOnceConvertOnce) {
  const std::string text = Written("g.txt", Edges(200'000));
  std::vector<std::unique_ptr<RunningCommand>> commands;
  for (int i = 0; i < 4; ++i) {
    commands.push_back(std::make_unique<RunningCommand>(
        std::vector<std::string>{CommandPath(), "cc", text, "--undirected", "--verify"},
        std::vector<std::string>{variable_}));
  }
  int conversions = 0;
  for (const auto& command : commands) {
    const CommandEnd end = command->Wait();
    EXPECT_EQ(end.code, 0) << end.err;
    conversions += Converted(end) ? 1 : 0;
  }
  EXPECT_EQ(conversions, 1);
  EXPECT_EQ(Hidden(scratch_.path()).size(), 1U);
}

TEST_F(GraphInputs, AKilledConversionLeavesNothingBehind) {
  const std::string text = Written("g.txt", Edges(200'000));
  const std::vector<std::string> words = {CommandPath(), "scan", text, "--undirected"};
  for (const int delay_ms : {5, 20, 40, 60, 80}) {
    RunningCommand command(words, {variable_});
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));  // any moment will do
    ::kill(command.pid(), SIGKILL);
    static_cast<void>(command.Wait());
    const auto names = Hidden(scratch_.path());
    EXPECT_LE(names.size(), 1U);
    for (const std::string& name : names) {  // it had ended before
      EXPECT_EQ(RunSlimgraph({"info", scratch_.File(name), "--check"}).code, 0);
      fs::remove(scratch_.File(name));
    }
  }
  const CommandEnd end = RunningCommand(words, {variable_}).Wait();
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST_F(GraphInputs, WhereTheFolderCannotBeWrittenTheUsersCacheIsTaken) {
  const std::string folder = scratch_.File("read-only");
  fs::create_directory(folder);
  WriteText(folder + "/g.txt", "1 2\n");
  fs::create_directory(scratch_.File("cache"));
  fs::permissions(scratch_.path(), fs::perms(0755));
  fs::permissions(scratch_.File("cache"), fs::perms(0777));
  fs::permissions(folder, fs::perms(0555));
  std::vector<std::string> words = {CommandPath(), "cc", folder + "/g.txt", "--undirected"};
  if (::getuid() == 0) {  // root may write everywhere
    words.insert(words.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  }
  const CommandEnd first = RunningCommand(words, {variable_}).Wait();
  if (first.code == 127 || first.err.find("setpriv:") == 0) GTEST_SKIP() << first.err;
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.err.find("is converted to " + scratch_.File("cache/slimgraph/.g.txt.")),
            std::string::npos)
      << first.err;
  const CommandEnd second = RunningCommand(words, {variable_}).Wait();
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_FALSE(Converted(second));
  const CommandEnd nowhere = RunningCommand(words, {"XDG_CACHE_HOME=/proc/none"}).Wait();
  EXPECT_EQ(nowhere.code, 4);
  EXPECT_NE(nowhere.err.find("it must be converted first, and " + folder + " and /proc/none"),
            std::string::npos)
      << nowhere.err;
}

TEST_F(GraphInputs, AMistakeIsOneLine) {
  const std::string text = Written("g.txt", "1 2\n");
  const std::string slim = scratch_.File("g.slim");
  ASSERT_EQ(RunSlimgraph({"convert", text, slim, "--undirected"}).code, 0);
  const auto says = [&](const std::vector<std::string>& words, int code, const std::string& what) {
    const CommandEnd end = RunSlimgraph(words, {variable_});
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_NE(end.err.find(what), std::string::npos) << end.err;
  };
  says({"cc", text}, 2,
       "g.txt: its format does not say whether edges have a direction: say "
       "--directed or --undirected");
  says({"cc", slim, "--undirected"}, 2, "--undirected is for graphs in other formats");
  says({"cc", scratch_.File("none.txt"), "--undirected"}, 3, "none.txt: there is no such file");
  says({"cc", Written("g.unknown", "1 2\n")}, 2, "its name does not tell its format: say --from");
  says({"cc", scratch_.File("none")}, 3, "none: there is no such file");
  says({"cc", scratch_.path()}, 3, "this is a folder, not a graph");
  says({"cc", Written("bad.txt", "1 2\n1 x\n"), "--undirected"}, 3, "bad.txt:2: expected");
  says({"bfs", text, "--directed", "--undirected", "--source", "1"}, 2, "exclude each other");
  EXPECT_EQ(Hidden(scratch_.path()).size(), 0U);
  const CommandEnd unweighted =
      RunSlimgraph({"sssp", text, "--undirected", "--source", "1"}, {variable_});
  EXPECT_EQ(unweighted.code, 3);
  EXPECT_NE(unweighted.err.find("--unit-weights"), std::string::npos) << unweighted.err;
}

}  // namespace
}  // namespace slimgraph
