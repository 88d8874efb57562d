// Points whose counts differ are withdrawn only if they ask the same question.
#include "experiment/verify.h"

#include <gtest/gtest.h>

namespace slimgraph::experiment {
namespace {

Point PointOf(std::vector<std::string> words) {
  Point point;
  point.words = std::move(words);
  return point;
}

class Verification : public ::testing::Test {
 protected:
  // Adds a point to the study and the count of its run to the results.
  void Counted(std::vector<std::string> words, int count) {
    study_.groups.push_back({"", {PointOf(std::move(words))}, ""});
    results_.Add(Last().line(),
                 *ParseJson(R"({"result":{"count":)" + std::to_string(count) + "}}", "report"));
  }
  const Point& Last() const { return study_.groups.back().points[0]; }

  Study study_;
  Results results_;
};

TEST_F(Verification, PointsThatAgreeVerifyEachOther) {
  Counted({"match", "g.slim", "--pattern", "wedge", "--nodes", "1"}, 5);
  Counted({"match", "g.slim", "--pattern", "wedge", "--nodes", "4"}, 5);
  CompareResults(study_, results_);
  EXPECT_TRUE(results_.failures().empty());
  EXPECT_TRUE(results_.verified(Last().line()));
}

TEST_F(Verification, PointsThatDisagreeAreWithdrawn) {
  Counted({"match", "g.slim", "--pattern", "wedge", "--nodes", "1"}, 5);
  Counted({"match", "g.slim", "--nodes", "4", "--pattern", "wedge"}, 6);
  CompareResults(study_, results_);
  EXPECT_EQ(results_.failures().size(), 2u);
  EXPECT_EQ(results_.rounds(Last().line()), 0u);
}

TEST_F(Verification, OtherPatternsSizesAndGraphsAreOtherQuestions) {
  Counted({"match", "g.slim", "--pattern", "triangle"}, 1);
  Counted({"match", "g.slim", "--pattern", "diamond"}, 2);
  Counted({"match", "g.slim", "--pattern", "diamond", "--induced", "vertex"}, 3);
  Counted({"match", "h.slim", "--pattern", "diamond"}, 4);
  Counted({"cliques", "g.slim", "-k", "4"}, 5);
  Counted({"cliques", "g.slim", "-k", "5"}, 6);
  CompareResults(study_, results_);
  EXPECT_TRUE(results_.failures().empty());
  EXPECT_FALSE(results_.verified(Last().line()));
}

}  // namespace
}  // namespace slimgraph::experiment
