#include "dkudu/cliques.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "dkudu/internal/clique_leaving.h"
#include "dkudu/internal/clique_memory.h"
#include "dkudu/internal/graph/list_stream.h"
#include "dkudu/internal/kernel/clique_kernel.h"
#include "dkudu/internal/kernel/offered_roots.h"
#include "dkudu/internal/sharing/work_offers.h"

namespace slimgraph::dkudu {
namespace {

const Stage kCliques("cliques");

constexpr std::size_t kTaskRoots = 128;

// Smaller matrices are not offered: the engine that has them counts them.
constexpr std::uint64_t kLeastOfferBytes = 8 << 10;

// Roots of triangles are offered only while more than this share of the windows is left, because
// their lists then cross the fabric a second time.
constexpr double kLeastShareToOffer = 0.25;

// The work of one compute node: passes over the graph, each for the roots in a range of ranks.
class Cliques {
 public:
  Cliques(MiningJob& job, unsigned size, std::uint64_t chunk_bytes, WorkOffers& offers,
          CliqueLeaving& leaving)
      : job_(job.cluster.job()),
        graph_(job.graph),
        lists_(job.lists),
        offers_(offers),
        leaving_(leaving),
        fetch_(lists_.fetch(0)),
        size_(size),
        chunk_bytes_(chunk_bytes),
        memory_(CliqueMemoryOf(graph_, job.options.cache_bytes, chunk_bytes)),
        has_matrices_(HasWaitingMatrices(graph_, size, memory_)),
        threads_(job.cluster.threads()),
        barrier_(threads_),
        counts_(threads_),
        is_delegated_(graph_.nodes()),
        homes_(graph_.nodes()) {
    for (const NodeId home : graph_.root_homes()) {
      if (home == graph_.self()) continue;
      delegated_.push_back(home);
      is_delegated_[home] = true;
    }
  }

  // Called on every thread.
  Status Run(std::uint32_t thread, Endpoint& endpoint) {
    CliqueKernel kernel(job_, graph_.vertices(), size_);
    bool ok = true;
    for (VertexId end = graph_.vertices(); end > 0 && ok;) {
      if (thread == 0) status_ = StartPass(end);
      barrier_.arrive_and_wait();
      while (status_ && has_window_) {
        if (stream_->must_decode()) {
          stream_->Decode();
          barrier_.arrive_and_wait();
        }
        WorkOnWindow(thread, kernel, endpoint);
        barrier_.arrive_and_wait();
        if (thread == 0) status_ = NextWindow();
        barrier_.arrive_and_wait();
      }
      ok = status_.has_value();
      end = has_left_ ? 0 : roots_in_.first;
      barrier_.arrive_and_wait();  // thread 0 changes both in the next pass
    }
    if (ok) SLIM_TRY(CountOffered(thread, kernel, endpoint));
    counts_[thread] = kernel.count();
    if (thread == 0 && !status_) fetch_.GiveUp();
    return thread == 0 ? status_ : Status{};
  }

  // How far this node was at a stop; nothing is left of a count to the end.
  const CliquesLeft& left() const { return left_; }

  WideCount count() const {
    WideCount sum = 0;
    for (const WideCount count : counts_) sum += count;
    return sum;
  }

 private:
  std::uint64_t ResidentArcs(RankRange range) const {
    std::uint64_t entries = 0;
    for (const NodeId home : delegated_) {
      const auto [begin, end] = ArcsOf(graph_, home, range);
      entries += end - begin;
    }
    return entries;
  }

  // An upper bound for the matrix of v, if v is a root. The exact number of neighbours above a
  // remote vertex is unknown until its list arrives.
  std::uint64_t MatrixBytes(VertexId v) const {
    if (!has_matrices_ || !graph_.is_root(v)) return 0;
    const std::uint64_t above = graph_.is_own(v)
                                    ? graph_.upper(v, graph_.own(v)).size()
                                    : std::min(graph_.degree(v), graph_.sums().most_above);
    return BitMatrix::Bytes(above);
  }

  // The longest range of roots that ends at `end` and fits into memory, but at least one root from
  // each home.
  RankRange RootsBelow(VertexId end) const {
    VertexId first = end - std::min(end, graph_.homes());
    std::uint64_t resident_bytes = ResidentArcs({first, end}) * sizeof(VertexId);
    std::uint64_t matrix_bytes = 0;
    for (VertexId root = first; root < end; ++root) matrix_bytes += MatrixBytes(root);
    while (first > 0) {
      const VertexId root = first - 1;
      if (is_delegated_[graph_.home(root)]) {
        resident_bytes += graph_.degree(root) * sizeof(VertexId);
      }
      matrix_bytes += MatrixBytes(root);
      if (resident_bytes > memory_.resident_bytes || matrix_bytes > memory_.matrix_bytes) break;
      first = root;
    }
    return {first, end};
  }

  Status StartPass(VertexId end) {
    if (leaving_.stops()) {
      has_left_ = true;
      has_window_ = false;
      roots_in_ = {end, end};
      left_ = {.first = end, .end = end, .middle = end};
      return {};
    }
    roots_in_ = RootsBelow(end);
    stream_.reset();
    SLIM_TRY(FetchDelegatedRoots());
    has_window_ = false;
    if (roots_.empty() && !leaving_.rest().empty()) return {};
    const RankRange range{FirstToJoin(), graph_.vertices()};
    stream_ = std::make_unique<ListStream>(graph_, fetch_, range, roots_in_, is_delegated_,
                                           memory_.window_bytes);
    const bool all_roots =
        roots_in_.first == 0 && roots_in_.end == graph_.vertices() && leaving_.rest().empty();
    if (!all_roots && graph_.nodes() > 1) stream_->RestrictTo(NeighboursOfRoots());
    return NextWindow();
  }

  // Fetches the lists of memory nodes' roots in large reads. The coded bytes use the windows'
  // memory.
  Status FetchDelegatedRoots() {
    resident_lists_.reset();
    resident_lists_ = std::make_unique_for_overwrite<VertexId[]>(ResidentArcs(roots_in_));
    VertexId* into = resident_lists_.get();
    homes_.assign(graph_.nodes(), {});
    for (const NodeId home : delegated_) {
      const auto [begin, end] = ArcsOf(graph_, home, roots_in_);
      homes_[home] = {into, begin};
      into += end - begin;
    }
    CodedLists coded(graph_);
    const auto fits = [&](RankRange range) {
      std::uint64_t bytes = 0;
      for (const NodeId home : delegated_) bytes += CodedBytesOf(graph_, home, range);
      return bytes <= std::min(kFetchPieceBytes, 2 * memory_.window_bytes);
    };
    for (VertexId first = roots_in_.first; first < roots_in_.end && !delegated_.empty();) {
      const RankRange part = LongestRange(graph_, first, roots_in_.end, fits);
      first = part.end;
      coded.StartFetch(fetch_, part, delegated_, {});
      SLIM_TRY(coded.Finish(fetch_));
      for (std::size_t piece = 0; piece < coded.pieces(); ++piece) coded.Decode(piece, homes_);
    }
    roots_.clear();
    // A page that is reserved but never written takes no memory.
    roots_.reserve((roots_in_.end - roots_in_.first) / graph_.compute() + graph_.homes());
    ForEachRoot([&](VertexId, List list, std::size_t joined) {
      roots_.push_back({list, static_cast<std::uint32_t>(joined)});
    });
    if (has_matrices_) PlaceMatrices();
    return {};
  }

  // Calls visit(v, list, joined) for the roots of the pass that are not done.
  template <typename Visit>
  void ForEachRoot(const Visit& visit) const {
    const CliqueRest& rest = leaving_.rest();
    for (VertexId v = roots_in_.first; v < roots_in_.end; ++v) {
      if (!graph_.is_root(v)) continue;
      const List all = graph_.is_own(v) ? graph_.own(v) : At(homes_[graph_.home(v)], v);
      const List list = graph_.upper(v, all);
      if (list.size() + 1 < size_) continue;
      std::size_t joined = rest.empty() ? 0 : rest.Joined(graph_, v, list);
      if (joined == list.size()) continue;
      // Matrices are not handed over.
      if (size_ > 3) joined = 0;
      visit(v, list, joined);
    }
  }

  // The first window begins there.
  VertexId FirstToJoin() const {
    if (leaving_.rest().empty()) return roots_in_.first;
    VertexId first = graph_.vertices();
    for (const CliqueRoot& root : roots_) first = std::min(first, root.list[root.joined]);
    return std::max(first, roots_in_.first);
  }

  void PlaceMatrices() {
    std::size_t words = 0;
    for (const CliqueRoot& root : roots_) words += BitMatrix::Words(root.list.size());
    if (words > matrix_words_) {
      matrices_.reset();
      matrices_ = std::make_unique_for_overwrite<std::uint64_t[]>(words);
      matrix_words_ = words;
    }
    std::uint64_t* next = matrices_.get();
    for (CliqueRoot& root : roots_) {
      root.matrix = next;
      next += BitMatrix::Words(root.list.size());
    }
  }

  // Indexed by rank.
  std::vector<bool> NeighboursOfRoots() const {
    std::vector<bool> neighbours(graph_.vertices());
    for (const CliqueRoot& root : roots_) {
      for (const VertexId v : root.list) neighbours[v] = true;
    }
    return neighbours;
  }

  Status NextWindow() {
    if (offers_.cancelled()) return Job::CancelledStatus();
    SLIM_TRY(std::exchange(asked_, Status()));
    if (stops_in_pass()) {
      Leave();
      return stream_->Stop();
    }
    next_ = 0;
    SLIM_ASSIGN(has_window_, stream_->LoadNextWindow());
    was_in_window_ = has_window_;
    window_began_ = std::exchange(window_ended_, has_window_ ? 1 - stream_->share_left() : 0);
    if (window_began_ > window_ended_) window_began_ = 0;
    may_offer_roots_ = has_window_ && size_ == 3 && stream_->share_left() > kLeastShareToOffer;
    return {};
  }

  // Matrices would be lost, so a node that goes on by itself completes them first.
  bool stops_in_pass() const { return has_matrices_ ? leaving_.stops_at_once() : leaving_.stops(); }

  // The roots before `next_` are joined with the neighbours in the current window.
  void Leave() {
    has_left_ = true;
    has_window_ = false;
    left_ = {.first = roots_in_.first, .end = roots_in_.end, .middle = roots_in_.first};
    const std::size_t joined = was_in_window_ ? std::min(next_.load(), roots_.size()) : 0;
    const RankRange window = was_in_window_ ? stream_->window() : RankRange{};
    left_.from = window.first;
    left_.to = window.end;
    std::size_t i = 0;
    ForEachRoot([&](VertexId v, List list, std::size_t) {
      const VertexId below = i < joined ? left_.to : left_.from;
      if (i < joined) left_.middle = v + 1;
      if (roots_[i].joined == list.size() && list.back() >= below) left_.done.push_back(v);
      ++i;
    });
  }

  // How much of this node's work has begun, in percent.
  double Percent() const {
    const auto arcs_in = [&](RankRange range) {
      std::uint64_t arcs = 0;
      for (const NodeId home : graph_.root_homes()) {
        const auto [begin, end] = ArcsOf(graph_, home, range);
        arcs += end - begin;
      }
      return static_cast<double>(arcs);
    };
    const auto roots = static_cast<double>(roots_.size() + 1);
    const double of_roots = std::min(1.0, static_cast<double>(next_) / roots);
    const double windows = window_began_ + (window_ended_ - window_began_) * of_roots;
    const double arcs = arcs_in({roots_in_.end, graph_.vertices()}) + arcs_in(roots_in_) * windows;
    return 100 * arcs / std::max(1.0, arcs_in({0, graph_.vertices()}));
  }

  List At(const HomeLists& lists, VertexId v) const {
    const CompactOffsets::Arcs arcs = graph_.FindArcs(v);
    return {lists.memory + (arcs.begin - lists.begin), arcs.length};
  }

  void WorkOnWindow(std::uint32_t thread, CliqueKernel& kernel, Endpoint& endpoint) {
    const RankRange window = stream_->window();
    const auto list_of = [&](VertexId v) {
      const NodeId home = graph_.home(v);
      if (home == graph_.self()) return graph_.upper(v, graph_.own(v));
      return graph_.upper(v,
                          At(stream_->is_resident(home) ? homes_[home] : stream_->lists(home), v));
    };
    const auto offer_matrix = [&](std::size_t neighbours, const BitMatrix& matrix) {
      const Bytes words = std::as_bytes(matrix.words());
      return words.size() >= kLeastOfferBytes && offers_.wants_offers() &&
             offers_.Offer(endpoint, neighbours, words);
    };
    while (true) {
      if (thread == 0 && leaving_.asks()) asked_ = leaving_.Ask(endpoint, Percent());
      if (stops_in_pass()) return;
      const std::size_t first = next_.fetch_add(kTaskRoots);
      if (first >= roots_.size() || offers_.cancelled()) return;
      std::span<CliqueRoot> roots(roots_);
      roots = roots.subspan(first, std::min(kTaskRoots, roots.size() - first));
      if (may_offer_roots_ && offers_.wants_offers())
        roots = roots.subspan(OfferRoots(roots, endpoint));
      for (CliqueRoot& root : roots) kernel.Join(root, window.end, list_of, offer_matrix);
    }
  }

  // Offers roots from the front of the span, and returns how many of them need no more work here.
  std::size_t OfferRoots(std::span<CliqueRoot> roots, Endpoint& endpoint) {
    std::vector<std::uint64_t> words;
    const std::size_t packed = PackRoots(roots, kMostRootsBytes, words);
    if (words.empty() || !offers_.Offer(endpoint, packed, std::as_bytes(std::span(words))))
      return 0;
    for (CliqueRoot& root : roots.first(packed)) {
      root.joined = static_cast<std::uint32_t>(root.list.size());
    }
    return packed;
  }

  // Takes roots that other engines have offered: for triangles the neighbours not joined yet, for
  // larger cliques the complete matrices, which hold nearly all the work.
  Status CountOffered(std::uint32_t thread, CliqueKernel& kernel, Endpoint& endpoint) {
    std::vector<std::uint64_t> words;
    std::optional<OfferedRoots> offered;
    while (true) {
      SLIM_ASSIGN(const auto label, offers_.Take(endpoint, words));
      if (!label) return {};
      if (offers_.cancelled()) return Job::CancelledStatus();
      if (size_ == 3) {
        if (!offered)
          offered.emplace(graph_, lists_.fetch(thread), OfferedRootBytes(graph_, chunk_bytes_));
        SLIM_TRY(offered->Count(words, kernel));
        continue;
      }
      kernel.Count(BitMatrix(*label, words.data()));
    }
  }

  const Job& job_;
  const MiningGraph& graph_;
  ListExchange& lists_;
  WorkOffers& offers_;
  CliqueLeaving& leaving_;
  ListFetch& fetch_;
  unsigned size_;
  std::uint64_t chunk_bytes_;
  CliqueMemory memory_;
  bool has_matrices_;
  std::uint32_t threads_;
  std::barrier<> barrier_;
  std::vector<WideCount> counts_;  // by thread

  // The state of a pass. Thread 0 changes it while the others wait at the barrier.
  Status status_;
  RankRange roots_in_;
  std::vector<CliqueRoot> roots_;
  std::vector<NodeId> delegated_;   // memory nodes whose vertices are roots here
  std::vector<bool> is_delegated_;  // by node: whether it is in delegated_
  std::vector<HomeLists> homes_;    // by node: the resident lists of its roots
  std::unique_ptr<VertexId[]> resident_lists_;
  std::unique_ptr<std::uint64_t[]> matrices_;  // of the roots, one after the other
  std::size_t matrix_words_ = 0;
  std::unique_ptr<ListStream> stream_;
  bool has_window_ = false;
  bool was_in_window_ = false;
  bool may_offer_roots_ = false;
  std::atomic<std::size_t> next_{0};
  double window_began_ = 0;  // how much of the pass is before the current window
  double window_ended_ = 0;  // and before the next one
  Status asked_;             // of leaving
  bool has_left_ = false;
  CliquesLeft left_;
};

// As Continuation::End.
Result<std::optional<WideCount>> CountRest(MiningJob& job, unsigned size,
                                           std::uint64_t chunk_bytes) {
  SLIM_ASSIGN(const auto offers, MakeOffers(job, PartBytes(job.graph, size)));
  SLIM_ASSIGN(auto leaving, CliqueLeaving::Make(job));
  WideCount mine = 0;
  CliquesLeft left;
  if (job.cluster.computes()) {
    Cliques cliques(job, size, chunk_bytes, *offers, leaving);
    const auto run = [&](std::uint32_t thread, Endpoint& endpoint) {
      return cliques.Run(thread, endpoint);
    };
    SLIM_TRY(RunEngines(job, kCliques, run));
    job.stolen_tasks += offers->stolen();
    mine = cliques.count();
    left = cliques.left();
  }
  return EndCount(job.cluster, job.continuation, mine, std::plus<>(),
                  [&] { return leaving.Rest(job.cluster, left); });
}

}  // namespace

std::uint64_t LeastCliqueBytes(const MiningGraph& graph, unsigned size) {
  if (size == 3) return graph.compute() > 1 ? LeastKernelBytes(graph) : 0;
  return BitMatrix::Bytes(graph.sums().most_above) * (1 + graph.homes());
}

std::uint64_t CliqueBytes(const MiningGraph& graph, const MiningOptions& options, unsigned size) {
  const std::uint64_t chunk_bytes = ChunkBytesOf(options, LeastCliqueBytes(graph, size));
  const CliqueMemory memory = CliqueMemoryOf(graph, options.cache_bytes, chunk_bytes);
  std::uint64_t root_bytes = 0;
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    if (graph.is_root(v) && graph.degree(v) + 1 >= size) root_bytes += sizeof(CliqueRoot);
  }
  // Roots are distributed evenly over the compute nodes.
  const bool has_matrices = HasWaitingMatrices(graph, size, memory);
  const std::uint64_t matrix_bytes =
      has_matrices ? std::min(graph.sums().matrix_bytes / graph.compute(), memory.matrix_bytes) : 0;
  std::uint64_t of_thread = CliqueKernel::Bytes(graph, size);
  if (size == 3 && MayOfferWork(graph, options)) {
    of_thread += NeighbourLists::BytesTaken(graph, OfferedRootBytes(graph, chunk_bytes),
                                            kMostRootsBytes / sizeof(VertexId));
  }
  return root_bytes + matrix_bytes + ListBytes(graph, memory, !has_matrices) +
         graph.vertices() / 8 + graph.threads() * of_thread +
         OfferBytes(graph, options, PartBytes(graph, size));
}

Result<std::uint64_t> CountCliques(MiningJob& job, unsigned size) {
  SLIM_ASSIGN(const auto chunk_bytes, CheckedChunkBytes(job, LeastCliqueBytes(job.graph, size)));
  auto count = CompletedCount<WideCount>(job.continuation);
  while (!count) {
    SLIM_ASSIGN(count, CountRest(job, size, chunk_bytes));
  }
  return Narrow(*count, "cliques");
}

}  // namespace slimgraph::dkudu
