#include "dkudu/internal/sharing/arc_values.h"

#include <algorithm>
#include <utility>

namespace slimgraph::dkudu {
namespace {

// So many are sent with one doorbell, because endpoints keep what they have sent.
constexpr std::size_t kWritesAtOnce = 256;
constexpr std::size_t kReadsAtOnce = 4096;
constexpr EdgeOffset kValuesAtOnce = 1 << 16;

Status CheckValues(Outcome outcome, const char* what) {
  if (outcome == Outcome::kOk) return {};
  return EnvironmentError("cannot {} values of edges on other nodes: {}", what,
                          OutcomeName(outcome));
}

}  // namespace

Result<ArcValues> ArcValues::Make(MiningJob& job) {
  const EdgeOffset arcs = job.graph.index(job.graph.self()).arcs();
  SLIM_ASSIGN(auto region, job.regions.TakeEverywhere(job.cluster, arcs * sizeof(Value)));
  return ArcValues(job.graph, std::move(region));
}

Status ArcValues::ReadPieces(Endpoint& endpoint, NodeId home,
                             const std::function<void(Values)>& visit) const {
  const EdgeOffset arcs = graph_->index(home).arcs();
  std::vector<Value> piece(std::min(arcs, kValuesAtOnce));
  for (EdgeOffset first = 0; first < arcs; first += piece.size()) {
    const std::span some = std::span(piece).first(std::min<EdgeOffset>(piece.size(), arcs - first));
    endpoint.Read(home, region(), first * sizeof(Value), std::as_writable_bytes(some));
    SLIM_TRY(CheckValues(endpoint.Flush(), "read"));
    visit(some);
  }
  return {};
}

void ArcReader::Add(VertexId v) {
  const MiningGraph& graph = values_.graph();
  const CompactOffsets::Arcs arcs = graph.FindArcs(v);
  lists_.push_back({v, filled_});
  if (graph.is_own(v) || arcs.length == 0) return;
  filled_ += arcs.length;
  const NodeId home = graph.home(v);
  if (!reads_.empty() && reads_.back().home == home &&
      reads_.back().first + reads_.back().count == arcs.begin) {
    reads_.back().count += arcs.length;
  } else {
    reads_.push_back({home, arcs.begin, arcs.length});
  }
}

Status ArcReader::Fetch() {
  if (reads_.empty()) return {};
  if (filled_ > capacity_) {
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<ArcValues::Value[]>(filled_);
    capacity_ = filled_;
  }
  ArcValues::Value* into = memory_.get();
  std::size_t posted = 0;
  for (const Read& read : reads_) {
    endpoint_.Read(read.home, values_.region(), read.first * sizeof *into,
                   std::as_writable_bytes(std::span(into, read.count)));
    into += read.count;
    if (++posted % kReadsAtOnce == 0) SLIM_TRY(CheckValues(endpoint_.Flush(), "read"));
  }
  reads_.clear();
  return CheckValues(endpoint_.Flush(), "read");
}

void ArcReader::Clear() {
  lists_.clear();
  reads_.clear();
  filled_ = 0;
}

void ArcWriter::Add(VertexId v, std::size_t i, ArcValues::Value value) {
  const MiningGraph& graph = values_.graph();
  changes_.push_back({graph.home(v), value, graph.FindArcs(v).begin + i});
}

// Values that are adjacent in their home's region are written together.
Status ArcWriter::WriteAll() {
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::pair(a.home, a.at) < std::pair(b.home, b.at);
  });
  packed_.resize(changes_.size());
  for (std::size_t i = 0; i < changes_.size(); ++i) packed_[i] = changes_[i].value;
  std::size_t runs = 0;
  for (std::size_t first = 0; first < changes_.size();) {
    std::size_t last = first + 1;
    while (last < changes_.size() && changes_[last].home == changes_[first].home &&
           changes_[last].at == changes_[first].at + (last - first)) {
      ++last;
    }
    WriteRun(first, last);
    first = last;
    if (++runs % kWritesAtOnce == 0) SLIM_TRY(CheckValues(endpoint_.Flush(), "write"));
  }
  changes_.clear();
  return CheckValues(endpoint_.Flush(), "write");
}

void ArcWriter::WriteRun(std::size_t first, std::size_t last) {
  const Change& change = changes_[first];
  const std::span from = std::span(packed_).subspan(first, last - first);
  if (change.home == values_.graph().self()) {
    std::copy(from.begin(), from.end(),
              values_.own().begin() + static_cast<std::ptrdiff_t>(change.at));
  } else {
    endpoint_.Write(change.home, values_.region(), change.at * sizeof(ArcValues::Value),
                    std::as_bytes(from));
  }
}

}  // namespace slimgraph::dkudu
