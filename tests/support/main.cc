// The main function of every test binary.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slimgraph/launch/started_by.h"

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

}  // namespace
}  // namespace slimgraph

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (slimgraph::StartedBy() == slimgraph::Starter::kPmi) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new slimgraph::FailuresOnly);
  }
  return RUN_ALL_TESTS();
}
