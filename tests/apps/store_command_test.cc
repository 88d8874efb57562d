// `slimgraph store` as a person meets it: updates against a serial graph, broken files, kills.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "slimgraph/graph/csr.h"
#include "slimgraph/graph/original_ids.h"
#include "slimgraph/graph/slim_file.h"
#include "tests/support/command.h"

namespace slimgraph {
namespace {

std::uint64_t Seed() {
  const char* const given = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "SLIMGRAPH_TEST_SEED=" << seed << std::endl;
  return seed;
}

// By name, and by neighbour: the weight of the edge, or 0.
using Lists = std::map<std::uint64_t, std::map<std::uint64_t, double>>;

Lists ListsOf(const std::string& path) {
  const auto file = SlimFile::Open(path);
  EXPECT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->CheckAll());
  const auto csr = ReadCsr(*file);
  const auto ids = file->ReadOriginalIds();
  EXPECT_TRUE(csr && ids);
  Lists lists;
  std::uint64_t twice = 0;
  for (VertexId v = 0; v < csr->vertices(); ++v) {
    auto& list = lists[(*ids)[v]];
    for (std::size_t i = 0; i < csr->degree(v); ++i) {
      list[(*ids)[csr->list(v)[i]]] = csr->weights.empty() ? 0 : csr->list_weights(v)[i];
    }
    if (file->directed()) continue;
    twice += csr->degree(v) + (list.contains((*ids)[v]) ? 1 : 0);
  }
  if (!file->directed()) {
    EXPECT_EQ(twice, 2 * file->edges());
    return lists;
  }
  EXPECT_EQ(csr->neighbours.size(), file->edges());
  const auto incoming = ReadCsr(*file, Direction::kIn);
  EXPECT_TRUE(incoming);
  EXPECT_EQ(incoming->neighbours.size(), file->edges());
  for (VertexId v = 0; v < incoming->vertices(); ++v) {
    for (std::size_t i = 0; i < incoming->degree(v); ++i) {
      const auto& list = lists[(*ids)[incoming->list(v)[i]]];
      const auto edge = list.find((*ids)[v]);
      EXPECT_TRUE(edge != list.end()) << incoming->list(v)[i] << " " << v;
      if (edge == list.end()) continue;
      EXPECT_EQ(edge->second, incoming->weights.empty() ? 0 : incoming->list_weights(v)[i]);
    }
  }
  return lists;
}

// Lines of updates that are right, and the graph that they make of another.
class Updates {
 public:
  Updates(Lists lists, std::uint64_t seed, bool directed = false, bool weighted = false)
      : lists_(std::move(lists)), random_(seed), directed_(directed), weighted_(weighted) {}

  std::string Lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += Line() + "\n";
    return text;
  }
  const Lists& lists() const { return lists_; }

 private:
  std::uint64_t Any() {
    auto at = lists_.begin();
    std::advance(at, random_() % lists_.size());
    return at->first;
  }
  std::string Line() {
    const auto kind = random_() % 20;
    if (kind == 0 || lists_.size() < 3) {
      const std::uint64_t name = random_() % 200;
      lists_[name];
      return fmt::format("+v {}{}", name, random_() % 2 == 0 ? " 0aFf" : "");
    }
    const std::uint64_t u = Any();
    if (kind == 1) {
      for (auto& [v, list] : lists_) list.erase(u);
      lists_.erase(u);
      return fmt::format("-v {}", u);
    }
    if (kind == 2) return "# a remark";
    const std::uint64_t v = Any();
    if (kind < 12) {
      const std::uint64_t weight = weighted_ ? random_() % 100 : 0;
      lists_[u][v] = static_cast<double>(weight);
      if (!directed_) lists_[v][u] = static_cast<double>(weight);
      return fmt::format("+ {} {}{}{}", u, v, weighted_ ? fmt::format(" {}", weight) : "",
                         random_() % 3 == 0 ? " 01" : "");
    }
    lists_[u].erase(v);
    if (!directed_) lists_[v].erase(u);
    return fmt::format("- {} {}", u, v);
  }

  Lists lists_;
  std::mt19937_64 random_;
  bool directed_;
  bool weighted_;
};

class Stores : public ::testing::Test {
 protected:
  void SetUp() override { WriteGraph(false, false); }
  void WriteGraph(bool directed, bool weighted) {
    EdgeList list;
    list.vertices = 50;
    list.directed = directed;
    std::mt19937_64 random(7);
    for (int i = 0; i < 200; ++i) {
      list.edges.push_back(
          {static_cast<VertexId>(random() % 50), static_cast<VertexId>(random() % 50)});
    }
    for (int i = 0; i < 200 && weighted; ++i) {
      list.weights.push_back(static_cast<double>(random() % 100));
    }
    ASSERT_TRUE(WriteSlimFile(list, graph_));
  }
  void Create() {
    std::filesystem::remove_all(store_);
    const CommandEnd end = RunSlimgraph(
        {"store", "create", graph_, "--vertex-bytes", "4", "--edge-bytes", "3", "-o", store_});
    ASSERT_EQ(end.code, 0) << end.err;
  }
  CommandEnd Apply(const std::string& from, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"store", "apply", store_, "--from", from, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return RunSlimgraph(words);
  }
  Lists Exported(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"store", "export", store_, "-o", scratch_.File("out.slim")};
    words.insert(words.end(), more.begin(), more.end());
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 0) << end.err;
    return ListsOf(scratch_.File("out.slim"));
  }
  static std::string Field(const CommandEnd& end, const std::string& name) {
    const std::size_t at = end.out.find("\"" + name + "\":");
    EXPECT_NE(at, std::string::npos) << end.out;
    const std::size_t begin = at + name.size() + 3;
    return end.out.substr(begin, end.out.find_first_of(",}", begin) - begin);
  }

  const ScratchDirectory scratch_;
  const std::string graph_ = scratch_.File("graph.slim");
  const std::string store_ = scratch_.File("store");
};

TEST_F(Stores, AreWhatTheUpdatesHaveMadeOfThemAtEveryTime) {
  for (const int kind : {0, 1, 2, 3}) {
    const bool directed = kind % 2 != 0;
    const bool weighted = kind / 2 != 0;
    WriteGraph(directed, weighted);
    Create();
    Updates updates(ListsOf(graph_), Seed(), directed, weighted);
    std::vector<std::pair<std::string, Lists>> past = {{"0", updates.lists()}};
    for (int i = 0; i < 4; ++i) {
      const std::string from = scratch_.File(fmt::format("updates{}", i));
      WriteText(from, updates.Lines(150));
      const CommandEnd end = Apply(from, {"--batch", "40"});
      ASSERT_EQ(end.code, 0) << end.err;
      past.emplace_back(Field(end, "time"), updates.lists());
    }
    EXPECT_EQ(Exported(), updates.lists());
    for (const auto& [time, lists] : past) EXPECT_EQ(Exported({"--at", time}), lists) << time;
  }
}

TEST_F(Stores, BeginEmpty) {
  ASSERT_EQ(RunSlimgraph({"store", "create", "--empty", "-o", store_}).code, 0);
  WriteText(scratch_.File("updates"), "+v 7\n+v 1099511627775\n+ 7 1099511627775\r\n\n+ 7 7");
  ASSERT_EQ(Apply(scratch_.File("updates")).code, 0);
  const Lists expected = {{7, {{7, 0}, {1099511627775, 0}}}, {1099511627775, {{7, 0}}}};
  EXPECT_EQ(Exported(), expected);
}

// Such a store has sides of vertices for vertices: half as many can be named.
TEST_F(Stores, BeginEmptyWhereEdgesHaveADirection) {
  ASSERT_EQ(RunSlimgraph(
                {"store", "create", "--empty", "--directed", "--weights", "float64", "-o", store_})
                .code,
            0);
  WriteText(scratch_.File("updates"), "+v 7\n+v 549755813887\n+ 7 549755813887 0.1\n+ 7 7 -3\n");
  ASSERT_EQ(Apply(scratch_.File("updates")).code, 0);
  const Lists expected = {{7, {{7, -3}, {549755813887, 0.1}}}, {549755813887, {}}};
  EXPECT_EQ(Exported(), expected);
  WriteText(scratch_.File("more"), "+v 549755813888\n");
  const CommandEnd end = Apply(scratch_.File("more"));
  EXPECT_EQ(end.code, 3);
  EXPECT_NE(end.err.find("more:1: expected an id below 2^39"), std::string::npos) << end.err;
  for (const char* const line : {"+ 7 7\n", "+ 7 7 x\n", "+ 7 7 nan\n", "+ 7 7 1e999\n"}) {
    WriteText(scratch_.File("more"), line);
    const CommandEnd bad = Apply(scratch_.File("more"));
    EXPECT_EQ(bad.code, 3);
    EXPECT_NE(bad.err.find("more:1: expected a weight after two ids"), std::string::npos)
        << bad.err;
  }
}

// As long as nothing is applied, byte for byte.
TEST_F(Stores, AreExportedAsTheFilesTheyWereMadeOf) {
  for (const int kind : {0, 1, 2, 3}) {
    WriteGraph(kind % 2 != 0, kind / 2 != 0);
    Create();
    static_cast<void>(Exported());
    EXPECT_EQ(ReadText(scratch_.File("out.slim")), ReadText(graph_));
  }
}

TEST_F(Stores, ApplyEachLineOnceWhateverIsCutOffTheLog) {
  const std::uint64_t seed = Seed();
  Create();
  Updates updates(ListsOf(graph_), seed);
  const std::string from = scratch_.File("updates");
  WriteText(from, updates.Lines(60));
  ASSERT_EQ(Apply(from, {"--batch", "7"}).code, 0);
  const std::string log = ReadText(store_ + "/log.0");
  std::mt19937_64 random(seed);
  for (int i = 0; i < 25; ++i) {
    WriteText(store_ + "/log.0", log.substr(0, random() % (log.size() + 1)));
    const CommandEnd end = Apply(from, {"--batch", "7"});
    ASSERT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(Exported(), updates.lists());
    EXPECT_EQ(Field(Apply(from), "updates"), "0");
  }
}

TEST_F(Stores, ApplyEachLineOnceWhereverTheyAreKilled) {
  Updates updates(ListsOf(graph_), Seed());
  const std::string from = scratch_.File("updates");
  // A vertex that is added, and deleted at once, can be neither twice; an edge likewise.
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += updates.Lines(300);
    text += fmt::format("+v {0}\n+ {0} {0}\n-v {0}\n", 1000 + i);
  }
  WriteText(from, text);
  Create();
  for (int kill = 0; kill < 10; ++kill) {
    RunningCommand running(
        {CommandPath(), "store", "apply", store_, "--from", from, "--batch", "20"});
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + 4 * kill));
    ::kill(running.pid(), SIGKILL);
    running.Wait();
  }
  const CommandEnd end = Apply(from, {"--batch", "20"});
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(Exported(), updates.lists());
}

TEST_F(Stores, TellWhatIsWrongWithALineAndApplyNothing) {
  Create();
  const Lists before = Exported();
  const std::pair<const char*, const char*> wrong[] = {
      {"* 1 2", "updates:3: expected"},
      {"+ 1", "updates:3: expected two ids"},
      {"+ 1 x", "updates:3: expected two ids"},
      {"+ 1 2 zz", "updates:3: expected properties in hexadecimal"},
      {"+ 1 2 0102030405", "updates:3: expected up to 3 bytes"},
      {"+ 1 2 012", "updates:3: expected up to 3 bytes"},
      {"- 1 2 01", "updates:3: expected nothing behind"},
      {"+ 1 2 01 7", "updates:3: expected"},
      {"+v 1099511627776", "updates:3: expected an id below 2^40"},
      {"+ 1 777", "updates:3: there is no vertex 777"},
      {"-v 778", "updates:3: there is no vertex 778"},
      {"- 779 1", "updates:3: there is no vertex 779"}};
  for (const auto& [line, message] : wrong) {
    WriteText(scratch_.File("updates"), fmt::format("-v 3\n+ 1 2\n{}\n+ 1 4\n", line));
    const CommandEnd end = Apply(scratch_.File("updates"), {"--batch", "1"});
    EXPECT_EQ(end.code, 3) << line;
    EXPECT_NE(end.err.find(message), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
  EXPECT_EQ(Exported(), before);
}

TEST_F(Stores, AreRefusedWhereTheyAreDamagedOrNone) {
  Create();
  WriteText(scratch_.File("updates"), "+ 1 2\n+ 1 3\n");
  ASSERT_EQ(Apply(scratch_.File("updates"), {"--batch", "1"}).code, 0);
  const auto export_error = [&](const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"store", "export", store_, "-o", scratch_.File("out.slim")};
    words.insert(words.end(), more.begin(), more.end());
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 3) << end.err;
    return end.err;
  };
  const auto damaged = [&](const char* name, std::size_t at) {
    const std::string path = store_ + "/" + name;
    const std::string good = ReadText(path);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    WriteText(path, bad);
    const std::string error = export_error();
    WriteText(path, good);
    return error;
  };
  EXPECT_NE(damaged("log.0", 60).find("the batch at byte 0 is damaged"), std::string::npos);
  EXPECT_NE(damaged("log.0", 3).find("the batch at byte 0 is damaged"), std::string::npos);
  EXPECT_NE(damaged("manifest", 30).find("it is damaged"), std::string::npos);
  EXPECT_NE(damaged("manifest", 8).find("store of version 17"), std::string::npos);
  EXPECT_NE(damaged("manifest", 0).find("it is no store"), std::string::npos);
  damaged("base.0.slim", 5000);
  std::filesystem::remove(store_ + "/manifest");
  EXPECT_NE(export_error().find("it is no store"), std::string::npos);
  std::filesystem::remove_all(store_);
  EXPECT_NE(export_error().find("No such file"), std::string::npos);
}

TEST_F(Stores, AreNotMadeOfWhatTheyCannotHold) {
  EdgeList list;
  list.vertices = 3;
  list.edges = {{0, 1}};
  WriteText(scratch_.File("one.el"), "0 1\n");
  ASSERT_EQ(RunSlimgraph({"convert", scratch_.File("one.el"), scratch_.File("out-lists.slim"),
                          "--from", "snap", "--directed", "--no-reverse"})
                .code,
            0);
  const std::vector<std::pair<std::vector<std::string>, int>> wrong = {
      {{scratch_.File("out-lists.slim"), "-o", store_}, 3},
      {{graph_, "--directed", "-o", store_}, 2},
      {{graph_, "--weights", "int32", "-o", store_}, 2},
      {{scratch_.File("none.slim"), "-o", store_}, 3},
      {{graph_}, 2},
      {{"-o", store_}, 2},
      {{graph_, "--empty", "-o", store_}, 2},
      {{graph_, "--edge-bytes", "257", "-o", store_}, 2},
      {{graph_, "-o", scratch_.path()}, 2}};
  for (auto [words, code] : wrong) {
    words.insert(words.begin(), {"store", "create"});
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, code) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    EXPECT_FALSE(std::filesystem::exists(store_));
  }
}

}  // namespace
}  // namespace slimgraph
