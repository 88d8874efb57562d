// How a job ends when its application fails. Each node is a process that runs the same test.
#include "apps/job/job_runner.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <thread>

#include "apps/exhaustion.h"
#include "slimgraph/base/coroutine.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/launch/local_job.h"
#include "slimgraph/launch/started_by.h"
#include "tests/support/command.h"
#include "tests/support/sanitized.h"

namespace slimgraph {
namespace {

using test::kSanitized;

constexpr NodeId kNodes = 4;
constexpr NodeId kFailing = 3;

struct JobEnd {
  int code;
  std::string err;
};

// Starts nodes that run the calling test again. In a node, StartedBy() is not kNobody.
JobEnd RunThisTestAsJob() {
  const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(info->test_suite_name()) + "." + info->name();
  ::testing::internal::CaptureStderr();
  const auto code = RunLocalJob(kNodes, {"--gtest_filter=" + name, "--gtest_catch_exceptions=0"});
  const std::string err = ::testing::internal::GetCapturedStderr();
  return {code ? *code : -1, code ? err : code.error().message};
}

// All nodes read the failing node's memory until that node fails or their reads fail. The memory is
// large, so that the failing node's exit takes longer than the message about its failure.
Status ReadFromFailingNode(JobRun& run) {
  Cluster& cluster = run.cluster;
  const bool fails = cluster.self() == kFailing;
  SLIM_ASSIGN(const SharedRegion region, cluster.fabric().Share(fails ? 64 << 20 : 0));
  std::fill(region.memory.begin(), region.memory.end(), std::byte{1});
  SLIM_TRY(cluster.all().Barrier());
  std::vector<std::byte> bytes(32 << 10);
  Endpoint& endpoint = cluster.fabric().endpoint(0);
  for (int round = 0;; ++round) {
    if (fails && round == 100) return InputError("the cause");
    endpoint.Read(kFailing, region.id, 0, bytes);
    if (endpoint.Flush() != Outcome::kOk) return EnvironmentError("a consequence");
  }
}

TEST(JobRunner, ReportsTheFirstFailureAndNotItsConsequences) {
  if (StartedBy() != Starter::kNobody) {
    JobOptions options;
    options.transport = "tcp";
    ::_exit(RunJob("test", options, {}, ReadFromFailingNode));
  }
  const JobEnd end = RunThisTestAsJob();
  EXPECT_EQ(end.code, static_cast<int>(ErrorKind::kInput)) << end.err;
  EXPECT_EQ(end.err, "slimgraph: node 3: the cause\n");
}

void TakeTooMuch() {
  const std::vector<std::byte> memory(std::numeric_limits<std::ptrdiff_t>::max());
  FAIL() << "there are " << memory.size() << " bytes";
}

struct Place {
  const char* name;
  void (*exhaust)();
};
void PrintTo(const Place& place, std::ostream* out) { *out << place.name; }

class ExhaustedNode : public ::testing::TestWithParam<Place> {};

INSTANTIATE_TEST_SUITE_P(
    Places, ExhaustedNode,
    ::testing::Values(Place{"MainThread", [] { TakeTooMuch(); }},
                      Place{"Thread", [] { std::thread(TakeTooMuch).join(); }},
                      Place{"ParallelFor",
                            [] {
                              static_cast<void>(ParallelFor(2, 2, [](std::size_t) {
                                TakeTooMuch();
                                return Status{};
                              }));
                            }},
                      Place{"Coroutine", [] { Coroutine(TakeTooMuch).Resume(); }},
                      Place{"LengthBeyondAll",
                            [] {
                              std::vector<int> none;
                              none.reserve(std::numeric_limits<std::size_t>::max());
                            }}),
    [](const auto& place) { return std::string(place.param.name); });

TEST_P(ExhaustedNode, EndsTheJobWithOneLine) {
  if (kSanitized) GTEST_SKIP() << "sanitizers end the process themselves";
  if (StartedBy() != Starter::kNobody) {
    EndProcessWhenExhausted();
    const auto work = [](slimgraph::JobRun& run) -> Status {
      if (run.cluster.self() == kFailing) GetParam().exhaust();
      return run.cluster.all().Barrier();
    };
    ::_exit(RunJob("test", {}, {}, work));
  }
  const JobEnd end = RunThisTestAsJob();
  EXPECT_EQ(end.code, static_cast<int>(ErrorKind::kEnvironment)) << end.err;
  EXPECT_EQ(end.err.substr(0, end.err.find(':', 20)), "slimgraph: node 3: out of memory");
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
}

TEST(Exhausted, ByAHugeOptionTheCommandEndsWithOneLine) {
  if (kSanitized) GTEST_SKIP() << "sanitizers end the process themselves";
  for (const char* const nodes : {"1", "2"}) {
    const CommandEnd end = RunSlimgraph({"txn", "run", "--workload", "list-append", "--protocol",
                                         "occ", "--rows", "400000000000", "--nodes", nodes});
    EXPECT_EQ(end.code, static_cast<int>(ErrorKind::kEnvironment)) << end.err;
    EXPECT_NE(end.err.find("out of memory"), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
}

}  // namespace
}  // namespace slimgraph
