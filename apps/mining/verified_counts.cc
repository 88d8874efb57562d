#include "apps/mining/verified_counts.h"

#include <utility>

#include "dkudu/serial.h"

namespace slimgraph {

Option& VerifiedCounts::Declare(Options& options) {
  return options.Flag("--verify",
                      "count again by a serial computation, which tries all embeddings: for small "
                      "graphs and patterns",
                      wanted_);
}

// The lists of the file, and each list without duplicates, twice.
std::uint64_t VerifiedCounts::Bytes(const dkudu::MiningGraph& graph) const {
  if (!wanted_ || graph.self() != 0) return 0;
  constexpr std::uint64_t kVertexBytes = 2 * sizeof(std::vector<VertexId>) + sizeof(EdgeOffset);
  return graph.vertices() * kVertexBytes + 4 * graph.arcs() * sizeof(VertexId);
}

MiningWork VerifiedCounts::Finish() {
  if (!wanted_) return {};
  return [this](JobRun& run, const GraphSource& file, dkudu::MiningJob&) -> Status {
    SLIM_ASSIGN(const Csr lists, ReadCsr(file));
    for (const Counted& one : std::exchange(counts_, {})) {
      const std::uint64_t right = dkudu::serial::CountMatches(lists, one.pattern, one.induced);
      if (one.count == right) continue;
      return VerificationError("{}: the count is {}, and should be {}", one.pattern.name(),
                               one.count, right);
    }
    run.report.Set("/verified", true);
    run.text += "the result equals that of a serial computation\n";
    return {};
  };
}

}  // namespace slimgraph
