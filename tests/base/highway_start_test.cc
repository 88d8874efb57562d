// Highway's library does not measure its timer when it is loaded.
#include <gtest/gtest.h>
#include <hwy/nanobenchmark.h>

namespace slimgraph {
namespace {

TEST(HighwayStart, ItsTimerIsNotMeasured) {
  EXPECT_EQ(hwy::platform::TimerResolution(), 1u) << "the library's own function measures it";
}

}  // namespace
}  // namespace slimgraph
