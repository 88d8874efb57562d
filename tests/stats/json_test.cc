#include "slimgraph/stats/json_value.h"

#include <gtest/gtest.h>

namespace slimgraph {
namespace {

TEST(Json, FindsTheValueUnderAPath) {
  const auto json = ParseJson(
      R"({"a":{"b":[1,{"c":"text"},2.5,-3,true,null]},"big":18446744073709551615})", "it");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->NumberAt("/a/b/0"), 1);
  EXPECT_EQ(json->NumberAt("/a/b/2"), 2.5);
  EXPECT_EQ(json->NumberAt("/a/b/3"), -3);
  EXPECT_EQ(json->TextAt("/a/b/1/c"), "text");
  EXPECT_EQ(json->Find("/a/b/6"), nullptr);
  EXPECT_EQ(json->Find("/a/x/y"), nullptr);
  EXPECT_EQ(json->NumberAt("/a/b/4"), std::nullopt);
  EXPECT_EQ(json->Find(""), &*json);
  EXPECT_FALSE(*json == *ParseJson(R"({"big":18446744073709551614})", "it"));
}

TEST(Json, NamesInvalidText) {
  for (const char* const text : {"", "{", "{} {}", "nul", "[1,]"}) {
    const auto json = ParseJson(text, "this text");
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().kind, ErrorKind::kInput);
    EXPECT_EQ(json.error().message.find("this text is not JSON"), 0U) << json.error().message;
  }
}

}  // namespace
}  // namespace slimgraph
