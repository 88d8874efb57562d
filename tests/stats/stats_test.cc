// What a run reports about itself: counts, the report, the trace, the progress line.
#include <gtest/gtest.h>

#include "slimgraph/stats/progress.h"
#include "slimgraph/stats/report.h"
#include "slimgraph/stats/trace.h"
#include "slimgraph/stats/traffic.h"

namespace slimgraph {
namespace {

TEST(Traffic, SumsByKindStageAndPeer) {
  const StageId fetch = StageNamed("fetch");
  Traffic traffic(3);
  traffic.at(fetch, 1, TrafficKind::kRead) += {2, 100, 32, 1};
  traffic.at(fetch, 2, TrafficKind::kRead) += {1, 50, 16, 1};
  traffic.at(kUnnamedStage, 2, TrafficKind::kMessage) += {1, 8, 16, 0};
  EXPECT_EQ(traffic.Total(), (TrafficCount{4, 158, 64, 2}));
  EXPECT_EQ(traffic.OfKind(TrafficKind::kRead), (TrafficCount{3, 150, 48, 2}));
  EXPECT_EQ(traffic.OfStage(fetch), (TrafficCount{3, 150, 48, 2}));
  EXPECT_EQ(traffic.OfPeer(2), (TrafficCount{2, 58, 32, 1}));
  EXPECT_EQ(traffic.Total().bytes(), 222U);
}

TEST(Traffic, TravelsAsNumbers) {
  Traffic one(2);
  one.at(3, 1, TrafficKind::kFetchAdd) += {5, 40, 120, 2};
  Traffic sum(2);
  sum.Add(one.Numbers());
  sum.Add(one);
  EXPECT_EQ(sum.Total(), (TrafficCount{10, 80, 240, 4}));
  sum.Clear();
  EXPECT_EQ(sum.Total(), TrafficCount());
}

TEST(Stage, HasOneNumberForOneName) {
  EXPECT_EQ(StageNamed("join"), StageNamed("join"));
  EXPECT_NE(StageNamed("join"), StageNamed("load"));
  EXPECT_EQ(StageNames()[StageNamed("join")], "join");
}

TEST(Report, BecomesOneObject) {
  Report report("scan");
  report.Set("/graph/vertices", std::uint64_t{4});
  report.Set("/graph/directed", false);
  report.Set("/cpu_s/compute", std::vector<double>{0.5, 1});
  report.Set("/graph/vertices", std::uint64_t{5});
  EXPECT_EQ(ToJson(report),
            R"({"schema":2,"command":"scan","version":")" SLIMGRAPH_VERSION
            R"(","graph":{"vertices":5,"directed":false},"cpu_s":{"compute":[0.5,1.0]}})");
}

TEST(Report, HasTheDigitsOfIntegersThatDoublesRound) {
  Report report("store apply");
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  report.Set("/a", kExact);
  report.Set("/b", kExact + 1);
  report.Set("/c", -static_cast<std::int64_t>(kExact) - 1);
  report.Set("/d", std::vector<std::uint64_t>{1, kExact + 1});
  report.Set("/e/0", kExact + 1);  // no name for its digits within an array
  const std::string json = ToJson(report);
  EXPECT_NE(json.find(R"("a":9007199254740992,"b":9007199254740993,"b_text":"9007199254740993",)"
                      R"("c":-9007199254740993,"c_text":"-9007199254740993",)"
                      R"("d":[1,9007199254740993],"d_text":["1","9007199254740993"],)"
                      R"("e":[9007199254740993]})"),
            std::string::npos)
      << json;
}

TEST(Report, SurvivesNamesThatAreNotText) {
  Report report("info");
  report.Set("/graph/path", std::string("\xff\"\n"));
  EXPECT_NE(ToJson(report).find(R"(\"\n)"), std::string::npos);
}

TEST(Trace, KeepsSpansOnlyWhileItIsOn) {
  { const TraceSpan span("before", 3); }
  StartTrace();
  { const TraceSpan span("inside", 3); }
  const auto events = TakeTrace(7);
  { const TraceSpan span("after", 3); }
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].name, "inside");
  EXPECT_EQ(events[0].node, 7U);
  EXPECT_EQ(events[0].thread, 3U);
  std::vector<TraceEvent> unpacked;
  UnpackTrace(PackTrace(events), unpacked);
  ASSERT_EQ(unpacked.size(), 1U);
  EXPECT_EQ(unpacked[0].duration_ns, events[0].duration_ns);
  const std::string json = ToChromeTrace(unpacked);
  EXPECT_NE(json.find(R"("name":"inside","ph":"X","pid":7,"tid":3)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("args":{"name":"node 7"})"), std::string::npos) << json;
}

TEST(Progress, ShowsCountRateAndTimeLeft) {
  EXPECT_EQ(Progress::Line("bytes read", 1000, 4000, 2),
            "bytes read: 1,000 of 4,000 (25 %), 500/s, 6 s left");
  EXPECT_EQ(Progress::Line("edges", 10, 0, 0), "edges: 10, 0/s");
}

}  // namespace
}  // namespace slimgraph
