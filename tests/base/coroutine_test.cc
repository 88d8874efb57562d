#include "slimgraph/base/coroutine.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace slimgraph {
namespace {

TEST(Coroutine, ContinuesWhereItWasSuspended) {
  std::vector<int> seen;
  std::vector<std::unique_ptr<Coroutine>> coroutines;
  for (int i = 0; i < 3; ++i) {
    coroutines.push_back(std::make_unique<Coroutine>([&, i] {
      for (int round = 0; round < 3; ++round) {
        seen.push_back(10 * round + i);
        coroutines[static_cast<std::size_t>(i)]->Yield();
      }
    }));
  }
  for (int round = 0; round < 4; ++round) {
    for (const auto& coroutine : coroutines) coroutine->Resume();
  }
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 10, 11, 12, 20, 21, 22}));
  for (const auto& coroutine : coroutines) EXPECT_TRUE(coroutine->ended());
}

}  // namespace
}  // namespace slimgraph
