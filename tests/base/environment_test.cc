#include "slimgraph/base/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace slimgraph {
namespace {

std::vector<std::string> Complaints(std::vector<std::string> environment) {
  return UnknownVariables(environment);
}

TEST(UnknownVariables, KnownAndForeignOnesPass) {
  std::vector<std::string> environment{"HOME=/root", "PATH=", "SLIM=1", "SLIMGRAPHY_HOST=x"};
  for (const KnownVariable& known : KnownVariables()) {
    environment.push_back(std::string(known.name) + "=1");
    EXPECT_FALSE(known.meaning.empty());
  }
  EXPECT_TRUE(Complaints(environment).empty());
}

TEST(UnknownVariables, AMisspeltNameGetsTheNearestKnownOne) {
  EXPECT_EQ(Complaints({"SLIMGRAPH_HOTS=10.0.0.1"}),
            (std::vector<std::string>{
                "SLIMGRAPH_HOTS is set, but nothing reads it; did you mean SLIMGRAPH_HOST?"}));
}

TEST(UnknownVariables, ADissimilarNameGetsNoSuggestion) {
  EXPECT_EQ(Complaints({"SLIMGRAPH_BUFFER_BYTES=4096"}),
            (std::vector<std::string>{"SLIMGRAPH_BUFFER_BYTES is set, but nothing reads it"}));
}

TEST(UnknownVariables, TheProcessesOwnEnvironmentIsRead) {
  ::setenv("SLIMGRAPH_HOSTS", "", 1);
  const auto complaints = UnknownVariables();
  ::unsetenv("SLIMGRAPH_HOSTS");
  EXPECT_EQ(std::count(complaints.begin(), complaints.end(),
                       "SLIMGRAPH_HOSTS is set, but nothing reads it; did you mean "
                       "SLIMGRAPH_HOST?"),
            1);
}

}  // namespace
}  // namespace slimgraph
