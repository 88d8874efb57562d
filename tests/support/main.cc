// The main function of every test binary.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "slimgraph/launch/started_by.h"
#include "tests/support/sanitized.h"

namespace slimgraph {
namespace {

// A test's node that mpiexec has started prints only failures; the parent reports the rest.
class FailuresOnly : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    fmt::print(stderr, "{}:{}: {}\n", result.file_name() == nullptr ? "?" : result.file_name(),
               result.line_number(), result.message());
  }
};

// A test that hangs, for example because a node that others wait for does nothing, is killed, so
// that tests/run names it. Child processes do not inherit this.
class TimeLimit : public ::testing::EmptyTestEventListener {
  static constexpr unsigned kLimitS = test::kSanitized ? 900 : 300;
  void OnTestStart(const ::testing::TestInfo&) override { ::alarm(kLimitS); }
  void OnTestEnd(const ::testing::TestInfo&) override { ::alarm(0); }
};

}  // namespace
}  // namespace slimgraph

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new slimgraph::TimeLimit);
  if (slimgraph::StartedBy() == slimgraph::Starter::kPmi) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new slimgraph::FailuresOnly);
  }
  return RUN_ALL_TESTS();
}
