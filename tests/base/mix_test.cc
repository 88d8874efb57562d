#include "slimgraph/base/mix.h"

#include <gtest/gtest.h>

namespace slimgraph {
namespace {

// The first numbers of splitmix64 with the seed 1234567, as other implementations produce them.
TEST(Mix64, OfACounterIsSplitmix64) {
  std::uint64_t counter = 1234567;
  for (const std::uint64_t number :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U}) {
    EXPECT_EQ(Mix64(counter += kMixStep), number);
  }
}

}  // namespace
}  // namespace slimgraph
