#include "slimgraph/base/split.h"

#include <gmock/gmock.h>

namespace slimgraph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Split, GivesThePartsBetweenSeparators) {
  EXPECT_THAT(Split(""), IsEmpty());
  EXPECT_THAT(Split("a"), ElementsAre("a"));
  EXPECT_THAT(Split("ab,c"), ElementsAre("ab", "c"));
  EXPECT_THAT(Split("a:b,c", ':'), ElementsAre("a", "b,c"));
}

TEST(Split, KeepsEmptyParts) { EXPECT_THAT(Split(",a,,b,"), ElementsAre("", "a", "", "b", "")); }

}  // namespace
}  // namespace slimgraph
