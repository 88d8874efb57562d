#include "apps/txn/analytics.h"

#include <algorithm>
#include <utility>

#include "dkudu/cliques.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr unsigned kUsualClique = 4;
// Identifies exchanges of analytics; the job and folding use other lines.
constexpr std::uint32_t kPartTag = 2;

constexpr std::pair<std::string_view, AnalysisKind> kKinds[] = {
    {"pagerank", AnalysisKind::kPageRank},  {"bfs", AnalysisKind::kBfs},
    {"sssp", AnalysisKind::kShortestPaths}, {"cc", AnalysisKind::kComponents},
    {"cdlp", AnalysisKind::kLabels},        {"kcore", AnalysisKind::kCores},
    {"mis", AnalysisKind::kIndependentSet}, {"triangles", AnalysisKind::kCliques},
    {"cliques", AnalysisKind::kCliques},    {"lcc", AnalysisKind::kClustering},
    {"ktruss", AnalysisKind::kTrussness},
};

Result<std::uint64_t> NumberAfter(std::string_view word, std::size_t colon, const char* what) {
  const auto number = ParseNumber<std::uint64_t>(word.substr(colon + 1));
  if (number) return *number;
  return UsageError("--analytics {}: expected {}, as in {}:17", word, what, word.substr(0, colon));
}

Result<Analysis> ParseAnalysis(std::string_view word) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::string_view name = word.substr(0, colon);
  const auto* const found =
      std::ranges::find_if(kKinds, [name](const auto& kind) { return kind.first == name; });
  const bool is_plain = colon == word.size();
  Analysis analysis{.name = std::string(word)};
  if (found != std::end(kKinds)) {
    analysis.kind = found->second;
    if (name == "cliques") analysis.clique_size = kUsualClique;
    if (is_plain) return analysis;
    if (name == "cliques") {
      const auto size = ParseNumber<unsigned>(word.substr(colon + 1));
      if (!size || *size < dkudu::kMinClique || *size > dkudu::kMaxClique) {
        return UsageError("--analytics {}: cliques have {}..{} vertices, as in cliques:4", word,
                          dkudu::kMinClique, dkudu::kMaxClique);
      }
      analysis.clique_size = *size;
      return analysis;
    }
    if (name == "bfs" || name == "sssp") {
      SLIM_ASSIGN(analysis.source, NumberAfter(word, colon, "a vertex"));
      return analysis;
    }
    if (name == "cdlp") {
      SLIM_ASSIGN(analysis.iterations, NumberAfter(word, colon, "a number of iterations"));
      return analysis;
    }
    if (name == "mis") {
      SLIM_ASSIGN(analysis.seed, NumberAfter(word, colon, "a seed"));
      return analysis;
    }
  }
  return UsageError(
      "--analytics '{}' is unknown; there are pagerank, bfs, bfs:SOURCE, sssp, sssp:SOURCE, cc, "
      "cdlp, cdlp:ITERATIONS, kcore, mis, mis:SEED, triangles, cliques, cliques:K, lcc, ktruss",
      word);
}

}  // namespace

Result<std::vector<Analysis>> ParseAnalytics(std::string_view words) {
  std::vector<Analysis> analytics;
  for (const std::string_view word : Split(words)) {
    SLIM_ASSIGN(analytics.emplace_back(), ParseAnalysis(word));
  }
  return analytics;
}

Status CheckSnapshotOptions(const TxnOptions& options) {
  SLIM_TRY(ParseAnalytics(options.analytics));
  const char* const name = !options.analytics.empty()   ? "--analytics"
                           : !options.export_to.empty() ? "--export"
                           : !options.updates.empty()   ? "--updates"
                                                        : nullptr;
  if (name == nullptr) return {};
  if (!txn::RunsOnStore(options.workload)) {
    return UsageError("{} needs a workload on a store, and --workload {} does not use one", name,
                      options.workload);
  }
  return {};
}

Result<std::unique_ptr<Analyst>> Analyst::Make(Cluster& cluster, const TxnOptions& options) {
  SLIM_ASSIGN(auto analytics, ParseAnalytics(options.analytics));
  std::unique_ptr<Analyst> analyst(new Analyst(cluster, std::move(analytics)));
  analyst->exports_ = !options.export_to.empty();
  analyst->export_to_ = options.export_to;
  SLIM_TRY(analyst->MakeFile());
  return analyst;
}

Status Analyst::MakeFile() {
  if (!exports_ || cluster_.self() != 0) return {};
  SLIM_ASSIGN(auto writer, ListWriter::Create(export_to_));
  writer_.emplace(std::move(writer));
  return {};
}

Analyst::~Analyst() {
  if (thread_.joinable()) thread_.join();
}

Status Analyst::Check(const std::string& store, TxnJob& job) const {
  for (const Analysis& analysis : analytics_) {
    const txn::GraphShape& shape = job.workload().graph()->shape();
    if (analysis.NeedsUndirected() && shape.directed) {
      return InputError(
          "--analytics {}: {} is directed, and patterns are mined in undirected graphs",
          analysis.name, store);
    }
    if (analysis.kind == AnalysisKind::kShortestPaths && shape.weights == WeightType::kNone) {
      return InputError("--analytics {}: {} has no weights", analysis.name, store);
    }
  }
  return {};
}

void Analyst::Start(TxnJob& job) {
  if (analytics_.empty() && !exports_) return;
  thread_ = Thread([this, &job] {
    txn::TransactionalGraph& graph = *job.workload().graph();
    // An export alone needs only the snapshot at the end of the run.
    if (analytics_.empty()) graph.engine().AwaitRunEnd();
    const auto done = cluster_.job().RunAmongSurvivors(
        kPartTag, [&](Job& part) { return AnalyseSnapshots(part, graph); });
    if (done) {
      broken_off_ = *done;
      return;
    }
    failure_ = done.error();
    if (cluster_.self() != 0) return;
    std::fputs(fmt::format("slimgraph: no more snapshots; the transactions continue: {}\n",
                           failure_->message)
                   .c_str(),
               stderr);
  });
}

Status Analyst::Finish(TxnJob& job) {
  job.engine().EndRuns();
  if (thread_.joinable()) thread_.join();
  return cluster_.all().Barrier();
}

Status Analyst::AnalyseSnapshots(Job& job, txn::TransactionalGraph& graph) {
  if (wrote_) SLIM_TRY(MakeFile());  // the old file has part of an export that was abandoned
  SLIM_ASSIGN(const auto cluster, Cluster::Start(job, OptionsFor(job)));
  txn::SnapshotMemory room(*cluster);
  const auto look = [&]() -> Status {
    for (bool more = true; more;) {
      SLIM_ASSIGN(more, AnalyseNextSnapshot(room, graph));
    }
    return cluster->Stop();
  };
  Status done = look();
  if (!done) job.AbortPart(done.error());  // while the cluster still exists, as GiveUp() requires
  return done;
}

Result<bool> Analyst::AnalyseNextSnapshot(txn::SnapshotMemory& room,
                                          txn::TransactionalGraph& graph) {
  Cluster& cluster = room.cluster();
  SLIM_ASSIGN(const auto snapshot, txn::Snapshot::Take(room, graph));
  const bool in_run = snapshot->in_run();
  // If an analysis was abandoned, nodes may have different numbers of findings.
  SLIM_ASSIGN(const std::uint64_t known, cluster.all().AllMax<std::uint64_t>(findings_.size()));
  if (in_run || exports_ || known == 0) {
    for (const Analysis& analysis : analytics_) {
      SLIM_ASSIGN(findings_.emplace_back(),
                  RunAnalysis(cluster.job(), OptionsFor(cluster.job()), *snapshot, analysis));
    }
  }
  if (!in_run && exports_) {
    wrote_ = true;
    if (writer_) SLIM_TRY(snapshot->Export(*writer_));
    exported_ = fmt::format("{}: {} vertices, {} edges, as of time {}\n", export_to_,
                            FormatCount(snapshot->vertices()), FormatCount(snapshot->edges()),
                            snapshot->time());
  }
  return in_run;
}

ClusterOptions Analyst::OptionsFor(const Job& job) const {
  ClusterOptions options = cluster_.OptionsForAnother();
  const Topology& whole = cluster_.topology();
  for (NodeId node = 0; node < job.nodes(); ++node) {
    if (whole.is_compute(job.node_in_job(node))) ++options.compute;
  }
  return options;
}

void Analyst::ReportFindings(JobRun& run) const {
  double longest_pause_s = 0;
  double staleness_s = 0;
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    const Finding& found = findings_[i];
    const std::string path = fmt::format("/analytics/{}", i);
    run.report.Set(path + "/name", found.name);
    run.report.Set(path + "/time", found.time);
    run.report.Set(path + "/in_run", found.in_run);
    run.report.Set(path + "/vertices", std::uint64_t{found.vertices});
    run.report.Set(path + "/edges", found.edges);
    run.report.Set(path + "/pause_s", found.pause_s);
    run.report.Set(path + "/gather_s", found.gather_s);
    run.report.Set(path + "/load_s", found.load_s);
    run.report.Set(path + "/run_s", found.run_s);
    run.report.Set(path + "/staleness_s", found.staleness_s);
    for (const auto& [name, value] : found.values) {
      run.report.Set(fmt::format("{}/result/{}", path, name), value);
    }
    longest_pause_s = std::max(longest_pause_s, found.pause_s);
    if (found.in_run) staleness_s = std::max(staleness_s, found.staleness_s);
    run.text += fmt::format("{} at time {}{}: {}; in {}, {} after that time\n", found.name,
                            found.time, found.in_run ? "" : ", after the run", found.words,
                            FormatSeconds(found.run_s), FormatSeconds(found.staleness_s));
  }
  if (!findings_.empty()) {
    run.report.Set("/snapshots/longest_pause_s", longest_pause_s);
    run.report.Set("/snapshots/largest_staleness_s", staleness_s);
    run.report.Set("/snapshots/broken_off", broken_off_);
    run.text += fmt::format("commits waited for a snapshot for at most {}\n",
                            FormatSeconds(longest_pause_s));
  }
  run.text += exported_;
  if (failure_) {
    run.report.Set("/snapshots/failure", failure_->message);
    run.exit_code = failure_->exit_code();
  }
}

}  // namespace slimgraph
