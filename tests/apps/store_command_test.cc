// `slimgraph store` as a user sees it: updates compared with a serial graph, and damaged files.
#include <fmt/format.h>

#include <filesystem>

#include "slimgraph/files/slim_file.h"
#include "tests/apps/store_support.h"

namespace slimgraph {
namespace {

TEST_F(Stores, MatchASerialGraphAtEveryTime) {
  for (const int kind : {0, 1, 2, 3}) {
    const bool directed = kind % 2 != 0;
    const bool weighted = kind / 2 != 0;
    WriteGraph(directed, weighted);
    Create();
    Updates updates(ListsOf(graph_), StoreSeed(), directed, weighted);
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

// A directed store keeps two sides for each vertex, so vertex ids have one bit less.
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

// Without updates, the exported file equals the original byte for byte.
TEST_F(Stores, AreExportedAsTheFilesTheyWereMadeOf) {
  for (const int kind : {0, 1, 2, 3}) {
    WriteGraph(kind % 2 != 0, kind / 2 != 0);
    Create();
    static_cast<void>(Exported());
    EXPECT_EQ(ReadText(scratch_.File("out.slim")), ReadText(graph_));
  }
}

TEST_F(Stores, NameAWrongLineAndApplyNothing) {
  Create();
  const Lists before = Exported();
  const std::pair<const char*, const char*> wrong[] = {
      {"* 1 2", "updates:3: expected"},
      {"+ 1", "updates:3: expected two ids"},
      {"+ 1 x", "updates:3: expected two ids"},
      {"+ 1 2 zz", "updates:3: expected properties in hexadecimal"},
      {"+ 1 2 0102030405", "updates:3: expected up to 3 bytes"},
      {"+ 1 2 012", "updates:3: expected up to 3 bytes"},
      {"- 1 2 01", "updates:3: expected nothing after"},
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

TEST_F(Stores, AreRefusedWhenDamagedOrMissing) {
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
  EXPECT_NE(export_error().find("there is no such store"), std::string::npos);
}

TEST_F(Stores, HaveIndexesThatComeAndGo) {
  const auto index = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"store", "index", store_};
    words.insert(words.end(), more.begin(), more.end());
    return RunSlimgraph(words);
  };
  ASSERT_EQ(RunSlimgraph({"store", "create", graph_, "--vertex-bytes", "8", "--index",
                          "age=0:u32,height=4:f32", "-o", store_})
                .code,
            0);
  EXPECT_EQ(index({}).out, store_ + ": indexes age=0:u32, height=4:f32\n");
  EXPECT_EQ(index({"--drop", "age", "--add", "age=7:i8"}).out,
            store_ + ": indexes height=4:f32, age=7:i8\n");
  const std::string manifest = ReadText(store_ + "/manifest");
  const auto refused = [&](const std::vector<std::string>& more, int code, const char* line) {
    const CommandEnd end = index(more);
    EXPECT_EQ(end.code, code) << line;
    EXPECT_NE(end.err.find(line), std::string::npos) << end.err;
    EXPECT_EQ(ReadText(store_ + "/manifest"), manifest);
  };
  refused({"--drop", "size"}, 3, "it has no index size: it has indexes height=4:f32, age=7:i8");
  refused({"--add", "age=0:u8"}, 2, "another one has this name");
  refused({"--add", "size=1:u64"}, 2, "vertices have only 8 bytes");
  refused({"--add", "size=1"}, 2, "it must be NAME=OFFSET:TYPE");
  refused({"--add", "b=0:u8,c=0:u8,d=0:u8,e=0:u8,f=0:u8,g=0:u8,h=0:u8"}, 2, "at most 8");
  EXPECT_EQ(index({"--drop", "height,age"}).out, store_ + ": no indexes\n");

  // Commits that are still in logs are in an index that was added since.
  const auto run = [&] {
    return RunSlimgraph({"txn", "run", "--workload", "linkbench", "--protocol", "occ", "--store",
                         store_, "--durable", scratch_.File("logs"), "--nodes", "2",
                         "--transactions", "200"});
  };
  std::filesystem::create_directory(scratch_.File("logs"));
  EXPECT_EQ(run().code, 0);
  EXPECT_EQ(index({"--add", "age=0:u16"}).code, 0);
  const CommandEnd again = run();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(RunSlimgraph({"store", "apply", store_, "--durable", scratch_.File("logs")}).code, 0);
  EXPECT_EQ(index({}).out, store_ + ": indexes age=0:u16\n");
  EXPECT_EQ(run().code, 0);
}

TEST_F(Stores, AreNotCreatedFromUnsupportedGraphs) {
  WriteText(scratch_.File("one.el"), "0 1\n1 2\n");
  ASSERT_EQ(RunSlimgraph({"convert", scratch_.File("one.el"), scratch_.File("out-lists.slim"),
                          "--from", "snap", "--directed", "--no-reverse"})
                .code,
            0);
  ASSERT_EQ(RunSlimgraph({"convert", scratch_.File("one.el"), scratch_.File("by-degree.slim"),
                          "--from", "snap", "--undirected", "--order", "degree"})
                .code,
            0);
  const std::vector<std::pair<std::vector<std::string>, int>> wrong = {
      {{scratch_.File("out-lists.slim"), "-o", store_}, 3},
      {{scratch_.File("by-degree.slim"), "-o", store_}, 3},
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
