// `slimgraph ktruss`: the trussness of each edge, or one k-truss.
#include "dkudu/truss.h"

#include <limits>
#include <optional>
#include <utility>

#include "apps/commands.h"
#include "apps/mining/mining_command.h"
#include "apps/output/edge_file.h"
#include "dkudu/serial.h"

namespace slimgraph {
namespace {

constexpr std::uint32_t kLeastTruss = 2;  // which has all edges

// The memory that node 0 takes to verify the result: the lists of the graph, and for each entry of
// a list the neighbour, the number of the edge and its trussness; and each edge in many lists.
std::uint64_t BytesToVerify(const dkudu::MiningGraph& graph) {
  constexpr std::uint64_t kVertexBytes = 4 * sizeof(std::vector<VertexId>);
  constexpr std::uint64_t kEntryBytes = 64;
  return graph.vertices() * kVertexBytes + graph.arcs() * kEntryBytes;
}

class TrussPart : public MiningPart {
 public:
  void Declare(Options& options) override {
    options.Number("-k", "K", "only the edges of the K-truss are counted and written", k_,
                   kLeastTruss, std::numeric_limits<std::uint32_t>::max());
    options
        .Text("-o,--output", "FILE",
              "a line 'id id trussness' for each edge; FILE.csv: 'src,dst,trussness'; FILE.npy: "
              "records for NumPy; -: standard output",
              output_)
        .Default("the largest trussness alone");
    options.Flag("--verify", "compare the result with that of a serial computation", verify_);
  }
  std::string output() const override { return output_; }

  Result<dkudu::ListPart> Lists() override { return dkudu::ListPart::kAll; }
  Result<MiningStep> Step(JobRun& run) override {
    run.report.Set("/options/k", std::uint64_t{k_});
    if (run.cluster.self() == 0 && !output_.empty()) {
      // Before the computation, so that a wrong path costs none.
      SLIM_ASSIGN(auto file, EdgeFile::Create(output_));
      lines_.emplace(std::move(file));
      run.text_to_stderr = IsStandardOutput(output_);
    }
    const auto work = [this](JobRun&, const GraphSource&, dkudu::MiningJob& job) -> Status {
      SLIM_ASSIGN(auto trussness, dkudu::ComputeTrussness(job));
      if (job.cluster.self() == 0) trussness_.emplace(std::move(trussness));
      return {};
    };
    const auto finish = [this](JobRun& one, const GraphSource& file, dkudu::MiningJob& job) {
      return Finish(one, file, job);
    };
    const auto bytes = [this](const dkudu::MiningGraph& graph,
                              const dkudu::MiningOptions& options) {
      const bool verifies = verify_ && graph.self() == 0;
      return dkudu::TrussBytes(graph, options) + (verifies ? BytesToVerify(graph) : 0) +
             (output_.empty() ? 0 : EdgeFile::kMemoryBytes);
    };
    return MiningStep{.engine_bytes = bytes,
                      .work = work,
                      .prints_ids = true,
                      .finish = finish,
                      .entry_bytes = dkudu::kTrussBytesPerArc};
  }

 private:
  // On node 0.
  Status Finish(JobRun& run, const GraphSource& file, dkudu::MiningJob& job) {
    // It must not outlive the job.
    const dkudu::Trussness result = *std::exchange(trussness_, std::nullopt);
    const std::uint32_t largest = result.largest();
    const std::uint64_t count = result.EdgesOfTruss(k_);
    run.report.Set("/result/largest_truss", std::uint64_t{largest});
    run.report.Set("/result/largest_truss_edges", result.EdgesOfTruss(largest));
    run.report.Set("/result/rounds", result.rounds());
    run.text += fmt::format("the largest trussness is {}, of {} edges\n", largest,
                            result.EdgesOfTruss(largest));
    run.report.Set("/result/count", count);
    if (k_ > kLeastTruss) run.text += fmt::format("the {}-truss has {} edges\n", k_, count);
    SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
    if (lines_) {
      SLIM_TRY(lines_->Begin(count, "trussness"));
      const auto add = [&](VertexId a, VertexId b, std::uint32_t trussness) {
        return trussness < k_ ? Status() : lines_->Add(ids[a], ids[b], trussness);
      };
      SLIM_TRY(result.ForEach(job, ids, add));
      SLIM_TRY(lines_->Finish());
      run.report.Set("/result/output", output_);
      run.text += fmt::format("the trussness of each edge: {}\n", output_);
    }
    if (!verify_) return {};
    SLIM_TRY(Verify(file, ids, job, result));
    run.report.Set("/verified", true);
    run.text += "the result equals that of a serial computation\n";
    return {};
  }

  static Status Verify(const GraphSource& file, const OriginalIds& ids, dkudu::MiningJob& job,
                       const dkudu::Trussness& result) {
    SLIM_ASSIGN(const Csr lists, ReadCsr(file));
    const auto expected = dkudu::serial::Trussness(lists);
    std::uint64_t edges = 0;
    SLIM_TRY(result.ForEach(job, ids, [&](VertexId a, VertexId b, std::uint32_t found) -> Status {
      ++edges;
      const std::uint32_t right = expected.Find(a, b);
      if (found == right) return {};
      return VerificationError(
          "the trussness of the edge between vertices {} and {} (counted from 0) is {}, and should "
          "be {}",
          a, b, found, right);
    }));
    std::uint64_t entries = 0;
    for (const auto& list : expected.neighbours) entries += list.size();
    if (2 * edges == entries && edges == result.EdgesOfTruss(0)) return {};
    return VerificationError("{} edges have a trussness, {} of them were counted; there are {}",
                             edges, result.EdgesOfTruss(0), entries / 2);
  }

  std::uint32_t k_ = kLeastTruss;
  bool verify_ = false;
  std::string output_;
  std::optional<EdgeFile> lines_;
  std::optional<dkudu::Trussness> trussness_;
};

}  // namespace

Command TrussCommand() {
  return MiningCommand<TrussPart>("ktruss", "the trussness of each edge, or one k-truss",
                                  {"truss"});
}

}  // namespace slimgraph
