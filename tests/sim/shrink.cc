// Finds the shortest run that still fails.
#include <cctype>

#include "tests/sim/runs.h"

namespace slimgraph::test {
namespace {

// A run that was shortened is another run: its threads run in another order. So several orders are
// tried.
constexpr std::uint64_t kOrders = 12;
// A run that crashes does not tell how many faults it had.
constexpr std::uint32_t kFaultsOfACrash = 8;
constexpr std::size_t kKindLetters = 30;

// Failures whose words are the same, without their numbers, are of one kind.
std::string KindOf(const std::string& failure) {
  std::string kind;
  for (const char letter : failure) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) kind += letter;
    if (kind.size() == kKindLetters) break;
  }
  return kind;
}

class Shrinking {
 public:
  Shrinking(const Scenario& scenario, std::uint64_t seed, const LeftOut& left_out)
      : scenario_(scenario), seed_(seed), best_(left_out) {}

  bool Begin() {
    const std::string failure = Run(best_);
    kind_ = KindOf(failure);
    CountFaults();
    return !failure.empty();
  }

  // Takes what is left out in `tried` as the best so far if a run without it still fails.
  bool Accept(LeftOut tried) {
    for (tried.another_order = 0; tried.another_order < kOrders; ++tried.another_order) {
      const std::string failure = Run(tried);
      if (failure.empty() || KindOf(failure) != kind_) continue;
      best_ = tried;
      CountFaults();
      fmt::print("fails with {}: {}\n", OptionsOf(best_), failure.substr(0, 100));
      return true;
    }
    return false;
  }

  bool LeaveOutNodes() {
    for (NodeId nodes = 1; nodes < std::min<NodeId>(best_.most_nodes, 8); ++nodes) {
      LeftOut tried = best_;
      tried.most_nodes = nodes;
      if (Accept(tried)) return true;
    }
    return false;
  }
  bool LeaveOutFaults() {
    bool any = false;
    for (std::uint32_t fault = 0; fault < faults_; ++fault) {
      LeftOut tried = best_;
      if (!tried.faults.insert(fault).second) continue;
      any = Accept(tried) || any;
    }
    return any;
  }
  bool LeaveOutWork() {
    LeftOut tried = best_;
    tried.percent /= 2;
    return best_.percent > 0 && Accept(tried);
  }
  const LeftOut& best() const { return best_; }

 private:
  std::string Run(const LeftOut& left_out) {
    return RunApart(scenario_, seed_, 1, SharedProgress(), left_out);
  }
  void CountFaults() {
    const std::uint32_t told = SharedProgress().faults;
    faults_ = told > 0 ? told : kFaultsOfACrash;
  }

  const Scenario& scenario_;
  const std::uint64_t seed_;
  std::string kind_;
  std::uint32_t faults_ = 0;  // of the best run so far, with those that were left out
  LeftOut best_;
};

}  // namespace

std::optional<LeftOut> Shrink(const Scenario& scenario, std::uint64_t seed,
                              const LeftOut& left_out) {
  Shrinking shrinking(scenario, seed, left_out);
  if (!shrinking.Begin()) return std::nullopt;
  for (bool shorter = true; shorter;) {
    shorter = shrinking.LeaveOutFaults();
    shorter = shrinking.LeaveOutNodes() || shorter;
    shorter = shrinking.LeaveOutWork() || shorter;
  }
  return shrinking.best();
}

std::string OptionsOf(const LeftOut& left_out) {
  std::string faults;
  for (const std::uint32_t fault : left_out.faults) {
    faults += fmt::format("{}{}", faults.empty() ? " --without-faults " : ",", fault);
  }
  const auto& atomics = left_out.points_at_atomics;
  const std::string transport =
      left_out.transport.empty() ? "" : fmt::format(" --transport {}", left_out.transport);
  return fmt::format("--most-nodes {} --percent {} --order {}{}{}{}", left_out.most_nodes,
                     left_out.percent, left_out.another_order, faults, transport,
                     !atomics   ? ""
                     : *atomics ? " --atomics yes"
                                : " --atomics no");
}

}  // namespace slimgraph::test
