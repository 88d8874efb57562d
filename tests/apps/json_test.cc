// The objects that --json prints: types of options, failures, and what is in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "slimgraph/stats/json_value.h"
#include "tests/support/command.h"

namespace slimgraph {
namespace {

class Json : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(RunSlimgraph({"gen", "kron", "-s", "8", "-o", graph_}).code, 0);
  }

  // The one object on standard output.
  static JsonValue ObjectOf(const CommandEnd& end) {
    EXPECT_EQ(std::count(end.out.begin(), end.out.end(), '\n'), 1) << end.out;
    auto object = ParseJson(end.out, "the output");
    EXPECT_TRUE(object) << end.out << end.err;
    return object ? *object : JsonValue();
  }
  static JsonValue Run(std::vector<std::string> words) {
    words.emplace_back("--json");
    const CommandEnd end = RunSlimgraph(std::move(words));
    EXPECT_EQ(end.code, 0) << end.err;
    return ObjectOf(end);
  }
  static bool IsFalse(const JsonValue& object, std::string_view path) {
    const JsonValue* const found = object.Find(path);
    return found != nullptr && *found == JsonValue(JsonValue::Any(false));
  }

  ScratchDirectory scratch_;
  std::string graph_ = scratch_.File("g.slim");
};

TEST_F(Json, OptionsHaveTheirTypesAndDefaults) {
  const JsonValue report =
      Run({"pagerank", graph_, "--nodes", "2", "--damping", "0.5", "--network", "fdr", "--verify"});
  EXPECT_EQ(report.NumberAt("/schema"), 2);
  EXPECT_EQ(report.TextAt("/options/GRAPH"), graph_);
  EXPECT_EQ(report.NumberAt("/options/nodes"), 2);
  EXPECT_EQ(report.NumberAt("/options/damping"), 0.5);
  EXPECT_EQ(report.TextAt("/options/network"), "fdr");
  EXPECT_TRUE(report.IsTrue("/options/verify"));
  EXPECT_TRUE(report.IsTrue("/options/json"));
  // Defaults.
  EXPECT_EQ(report.NumberAt("/options/threads"), 1);
  EXPECT_EQ(report.NumberAt("/options/iterations"), 20);
  EXPECT_EQ(report.TextAt("/options/mode"), "auto");
  EXPECT_EQ(report.Find("/options/output"), nullptr);
  const JsonValue* const given = report.Find("/given");
  ASSERT_NE(given, nullptr);
  std::string names;
  for (const JsonValue& name : *given->array()) names += *name.text() + " ";
  EXPECT_EQ(names, "GRAPH damping verify nodes network json ");
  const JsonValue mined = Run({"triangles", graph_, "--chunk-memory", "64K"});
  EXPECT_EQ(mined.NumberAt("/options/chunk-memory"), 65536);
  EXPECT_EQ(mined.TextAt("/options/edge-cache"), "auto");
  EXPECT_TRUE(IsFalse(Run({"info", graph_}), "/options/check"));
}

TEST_F(Json, AFailureIsAnObjectToo) {
  const auto expect = [&](std::vector<std::string> words, const char* kind, int code) {
    words.emplace_back("--json");
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, code) << end.err;
    const JsonValue report = ObjectOf(end);
    EXPECT_EQ(report.NumberAt("/schema"), 2);
    EXPECT_EQ(report.TextAt("/command"), words[0]);
    EXPECT_EQ(report.TextAt("/error/kind"), kind);
    EXPECT_EQ(report.NumberAt("/error/exit_code"), code);
    const std::string line = "slimgraph: " + report.TextAt("/error/message") + "\n";
    ASSERT_GE(end.err.size(), line.size());
    EXPECT_EQ(end.err.substr(end.err.size() - line.size()), line);
    EXPECT_EQ(report.Find("/result"), nullptr);
  };
  const std::string missing = scratch_.File("no.slim");
  expect({"cliques", graph_, "-k", "9"}, "usage", 2);
  expect({"bfs", graph_}, "usage", 2);
  expect({"info", missing}, "input", 3);
  for (const char* const nodes : {"1", "4"}) {
    expect({"bfs", missing, "--source", "1", "--nodes", nodes}, "input", 3);
    expect({"bfs", graph_, "--source", "999", "--nodes", nodes}, "input", 3);
    expect({"bfs", graph_, "--source", "1", "--output", scratch_.File("no/x"), "--nodes", nodes},
           "environment", 4);
  }
}

TEST_F(Json, TheDeathOfANodeIsAnObjectToo) {
  RunningCommand command(
      {CommandPath(), "scan", graph_, "--nodes", "3", "--repeat", "100000000", "--json"});
  ASSERT_TRUE(command.AwaitError("the job takes"));
  ASSERT_TRUE(command.NodeProcess(1));
  ::kill(*command.NodeProcess(1), SIGKILL);
  const CommandEnd end = command.Wait();
  EXPECT_EQ(end.code, 4);
  const JsonValue report = ObjectOf(end);
  EXPECT_EQ(report.TextAt("/error/kind"), "environment");
  EXPECT_NE(report.TextAt("/error/message").find("node 1"), std::string::npos) << end.out;
}

TEST_F(Json, NothingIsCalledVerifiedThatWasNot) {
  EXPECT_EQ(Run({"info", graph_}).Find("/verified"), nullptr);
  EXPECT_TRUE(Run({"info", graph_, "--check"}).IsTrue("/verified"));
  EXPECT_EQ(Run({"bfs", graph_, "--source", "1"}).Find("/verified"), nullptr);
}

TEST_F(Json, RandomSourcesAreNamed) {
  const JsonValue random = Run({"bc", graph_, "--random", "3", "--seed", "7"});
  const JsonValue* const ids = random.Find("/result/source_ids");
  ASSERT_NE(ids, nullptr);
  std::string sources;
  for (const JsonValue& id : *ids->array()) {
    sources += fmt::format("{}{}", sources.empty() ? "" : ",", *id.number());
  }
  const JsonValue named = Run({"bc", graph_, "--sources", sources});
  EXPECT_EQ(named.NumberAt("/result/sources"), 3);
  EXPECT_EQ(named.NumberAt("/result/highest"), random.NumberAt("/result/highest"));
}

TEST_F(Json, TimesOfStoresHaveDigitsAndADate) {
  const std::string store = scratch_.File("store");
  ASSERT_EQ(RunSlimgraph({"store", "create", graph_, "-o", store}).code, 0);
  WriteText(scratch_.File("u"), "+ 1 2\n");
  const JsonValue applied = Run({"store", "apply", store, "--from", scratch_.File("u")});
  const std::string digits = applied.TextAt("/result/time_text");
  const std::string date = applied.TextAt("/result/date");
  EXPECT_GT(std::stoull(digits), std::uint64_t{1} << 53);
  ASSERT_EQ(date.size(), std::string("2026-11-24T11:45:03.123Z").size()) << date;
  WriteText(scratch_.File("u"), "- 1 2\n");
  const CommandEnd text = RunSlimgraph({"store", "apply", store, "--from", scratch_.File("u")});
  EXPECT_NE(text.out.find(date.substr(0, 14)), std::string::npos) << text.out;
  // The date names the same state as the digits, and the minute's end a later one.
  const auto edges_at = [&](const std::string& at) {
    return Run({"store", "export", store, "--at", at, "-o", scratch_.File("e.slim")})
        .NumberAt("/graph/edges");
  };
  const auto with_edge = edges_at(digits);
  EXPECT_EQ(edges_at(date), with_edge);
  EXPECT_NE(edges_at("2999-01-01T00:00Z"), with_edge);
  const CommandEnd wrong =
      RunSlimgraph({"store", "export", store, "--at", "2026-11", "-o", scratch_.File("e.slim")});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("expected a time in digits or a date"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace slimgraph
