#include "dkudu/plan/pattern.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace slimgraph::test {
namespace {

std::string ErrorOf(const std::string& contents) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "slimgraph-pattern-test.txt").string();
  std::ofstream(path) << contents;
  const auto pattern = dkudu::Pattern::Find(path);
  std::filesystem::remove(path);
  if (pattern) return "";
  EXPECT_EQ(pattern.error().exit_code(), 3);
  return pattern.error().message.substr(path.size());
}

TEST(Pattern, AnInvalidFileIsRefusedWithItsLine) {
  EXPECT_EQ(ErrorOf("0 1\n1 x\n"), R"(:2: expected an edge "a b" of the pattern, found "1 x")");
  EXPECT_EQ(ErrorOf("0 1 2\n"), R"(:1: expected an edge "a b" of the pattern, found "0 1 2")");
  EXPECT_EQ(ErrorOf("# nothing\n"), ": a pattern has at least one edge");
  EXPECT_EQ(ErrorOf("0 1\n2 3\n"), ": the pattern is not connected; count its parts one by one");
  EXPECT_EQ(ErrorOf("0 1\n1 1\n"),
            ": vertex 1 has an edge to itself, which no subgraph of a simple graph has");
  EXPECT_EQ(ErrorOf("0 1\n0 2\n0 3\n0 4\n0 5\n0 6\n0 7\n0 8\n"),
            ": the pattern has 9 vertices, and at most 8 are supported");
}

TEST(Pattern, AFileMayHaveCommentsAndBothDirectionsOfAnEdge) {
  EXPECT_EQ(ErrorOf("# a wedge\n\n10, 20\r\n20 10\n20\t30\n"), "");
}

TEST(Pattern, FindsAllAutomorphisms) {
  const auto number = [](const char* name) {
    return dkudu::Pattern::Find(name)->Automorphisms().size();
  };
  EXPECT_EQ(number("edge"), 2U);
  EXPECT_EQ(number("diamond"), 4U);
  EXPECT_EQ(number("house"), 2U);
  EXPECT_EQ(number("5-cycle"), 10U);
  EXPECT_EQ(number("7-star"), 5040U);
  EXPECT_EQ(number("8-clique"), 40320U);
}

TEST(Pattern, IsSpelledAsItIsFound) {
  for (const char* const text : {"house", "5-cycle", "1-2", "4-7,4-9,7-9,9-12"}) {
    const auto pattern = dkudu::Pattern::Find(text);
    ASSERT_TRUE(pattern) << text << ": " << pattern.error().message;
    EXPECT_EQ(pattern->Spelled(), text);
  }
  const auto mine = dkudu::Pattern::Make({{9, 7}, {4, 9}, {7, 9}, {12, 9}}, "mine");
  EXPECT_EQ(mine->Spelled(), "4-9,7-9,9-12");
  for (const char* const text : {"1-", "1-2,", "1-2-3", "-1-2", "1--2", "1,2-3", "1-2,3"}) {
    EXPECT_FALSE(dkudu::Pattern::Find(text)) << text;
  }
  EXPECT_FALSE(dkudu::Pattern::Find("1-1"));      // a loop
  EXPECT_FALSE(dkudu::Pattern::Find("1-2,3-4"));  // not connected
}

TEST(Pattern, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const auto pattern = dkudu::Pattern::Find("rhombus");
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().message,
            "no pattern and no file is called 'rhombus'; the names are " + dkudu::PatternNames());
}

}  // namespace
}  // namespace slimgraph::test
