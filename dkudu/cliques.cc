#include "dkudu/cliques.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <optional>

#include "dkudu/internal/graph/list_stream.h"
#include "dkudu/internal/kernel/bit_matrix.h"
#include "dkudu/internal/kernel/clique_kernel.h"
#include "dkudu/internal/kernel/offered_roots.h"
#include "dkudu/internal/sharing/work_offers.h"

namespace slimgraph::dkudu {
namespace {

const Stage kCliques("cliques");

constexpr std::uint64_t kMinWindowBytes = 16 << 10;
constexpr std::uint64_t kMaxWindowBytes = 4 << 20;
constexpr std::size_t kTaskRoots = 128;

// Every pass reads the lists of all nodes. The roots of a pass may take a 64th of these lists'
// bytes, up to 1 MiB, even if the cache is smaller. So a small graph needs about 64 passes at most.
constexpr std::uint64_t kMostPasses = 64;
constexpr std::uint64_t kMaxLeastResidentBytes = 1 << 20;

// Root lists of memory nodes are fetched in pieces of this many coded bytes, so that a piece is
// still in the processor's cache when it is decoded.
constexpr std::uint64_t kFetchPieceBytes = 1 << 20;

// Smaller matrices are not offered: the engine that has them counts them.
constexpr std::uint64_t kLeastOfferBytes = 8 << 10;

// Roots of triangles are offered only while more than this share of the windows is left, because
// their lists then cross the fabric a second time.
constexpr double kLeastShareToOffer = 0.25;
constexpr std::uint64_t kMostRootsBytes = 256 << 10;  // in one offer

// An engine that takes offered roots fetches the lists they need in pieces of at most this size.
constexpr std::uint64_t kMostOfferedListBytes = 8 << 20;

// The memory for lists of other nodes: twice `window_bytes` for windows, and `resident_bytes` for
// the lists of memory nodes' roots.
struct Memory {
  std::uint64_t window_bytes;
  std::uint64_t resident_bytes;
  std::uint64_t matrix_bytes;
};

Memory MemoryOf(const MiningGraph& graph, std::uint64_t cache_bytes, std::uint64_t chunk_bytes) {
  const bool has_delegated_roots = graph.root_homes().size() > 1;
  const std::uint64_t window_bytes =
      std::clamp(cache_bytes / (has_delegated_roots ? 16 : 2), kMinWindowBytes, kMaxWindowBytes);
  const std::uint64_t least_resident_bytes =
      has_delegated_roots
          ? std::min(kMaxLeastResidentBytes, graph.remote_list_bytes() / kMostPasses)
          : 0;
  const std::uint64_t resident_bytes = cache_bytes - std::min(cache_bytes, 2 * window_bytes);
  // Each thread needs one matrix for roots that are complete within one window.
  const std::uint64_t of_one_root = BitMatrix::Bytes(graph.sums().most_above);
  return {window_bytes, std::max(resident_bytes, least_resident_bytes),
          graph.threads() * (chunk_bytes - std::min(chunk_bytes, of_one_root))};
}

// Whether roots wait for lists that arrive in later windows, so that each root needs its own
// matrix. They do not if one pass with one window covers the graph.
bool HasWaitingMatrices(const MiningGraph& graph, unsigned size, const Memory& memory) {
  return size > 3 &&
         !ListStream::IsOneWindow(graph, std::min(memory.window_bytes, memory.resident_bytes));
}

// The memory for lists of other nodes: the lists of resident roots, and the windows or, in the
// windows' memory, the pieces in which root lists arrive. `once`: if all root lists can be
// resident, they are fetched once and no window contains them.
std::uint64_t ListBytes(const MiningGraph& graph, const Memory& memory, bool once) {
  std::uint64_t delegated_bytes = 0;
  std::uint64_t delegated_coded_bytes = 0;
  for (const NodeId home : graph.root_homes()) {
    if (home == graph.self()) continue;
    delegated_bytes += graph.index(home).arcs() * sizeof(VertexId);
    delegated_coded_bytes += graph.index(home).coded_bytes();
  }
  std::uint64_t window_bytes = graph.remote_list_bytes() + 2 * graph.remote_coded_bytes();
  if (once && delegated_bytes <= memory.resident_bytes) {
    window_bytes -= delegated_bytes + 2 * delegated_coded_bytes;
    window_bytes += std::min(kFetchPieceBytes, delegated_coded_bytes);
  }
  return std::min(delegated_bytes, memory.resident_bytes) +
         std::min(2 * memory.window_bytes, window_bytes);
}

// The memory that an engine needs to process roots that others have offered.
std::uint64_t OfferedRootBytes(const MiningGraph& graph, std::uint64_t chunk_bytes) {
  return std::min(chunk_bytes, std::max(LeastKernelBytes(graph), kMostOfferedListBytes));
}

// The size of an offered part.
std::uint64_t PartBytes(const MiningGraph& graph, unsigned size) {
  if (size == 3) return kMostRootsBytes;
  return std::min(BitMatrix::Bytes(graph.sums().most_above), WorkOffers::kMostPartBytes);
}

// The work of one compute node: passes over the graph, each for the roots in a range of ranks.
class Cliques {
 public:
  Cliques(MiningJob& job, unsigned size, std::uint64_t chunk_bytes, WorkOffers& offers)
      : job_(job.cluster.job()),
        graph_(job.graph),
        lists_(job.lists),
        offers_(offers),
        fetch_(lists_.fetch(0)),
        size_(size),
        chunk_bytes_(chunk_bytes),
        memory_(MemoryOf(graph_, job.options.cache_bytes, chunk_bytes)),
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
        WorkOnWindow(kernel, endpoint);
        barrier_.arrive_and_wait();
        if (thread == 0) status_ = NextWindow();
        barrier_.arrive_and_wait();
      }
      ok = status_.has_value();
      end = roots_in_.first;
      barrier_.arrive_and_wait();  // thread 0 changes both in the next pass
    }
    if (ok) SLIM_TRY(CountOffered(thread, kernel, endpoint));
    counts_[thread] = kernel.count();
    return thread == 0 ? status_ : Status{};
  }

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
    roots_in_ = RootsBelow(end);
    stream_.reset();
    SLIM_TRY(FetchDelegatedRoots());
    const RankRange range{roots_in_.first, graph_.vertices()};
    stream_ = std::make_unique<ListStream>(graph_, fetch_, range, roots_in_, is_delegated_,
                                           memory_.window_bytes);
    const bool all_roots = roots_in_.first == 0 && roots_in_.end == graph_.vertices();
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
    for (VertexId v = roots_in_.first; v < roots_in_.end; ++v) {
      if (!graph_.is_root(v)) continue;
      const List all = graph_.is_own(v) ? graph_.own(v) : At(homes_[graph_.home(v)], v);
      const List list = graph_.upper(v, all);
      if (list.size() + 1 >= size_) roots_.push_back({list});
    }
    if (has_matrices_) PlaceMatrices();
    return {};
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
    next_ = 0;
    SLIM_ASSIGN(has_window_, stream_->LoadNextWindow());
    may_offer_roots_ = has_window_ && size_ == 3 && stream_->share_left() > kLeastShareToOffer;
    return {};
  }

  List At(const HomeLists& lists, VertexId v) const {
    const CompactOffsets::Arcs arcs = graph_.FindArcs(v);
    return {lists.memory + (arcs.begin - lists.begin), arcs.length};
  }

  void WorkOnWindow(CliqueKernel& kernel, Endpoint& endpoint) {
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
  ListFetch& fetch_;
  unsigned size_;
  std::uint64_t chunk_bytes_;
  Memory memory_;
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
  bool may_offer_roots_ = false;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

std::uint64_t LeastCliqueBytes(const MiningGraph& graph, unsigned size) {
  if (size == 3) return graph.compute() > 1 ? LeastKernelBytes(graph) : 0;
  return BitMatrix::Bytes(graph.sums().most_above) * (1 + graph.homes());
}

std::uint64_t CliqueBytes(const MiningGraph& graph, const MiningOptions& options, unsigned size) {
  const std::uint64_t chunk_bytes = ChunkBytesOf(options, LeastCliqueBytes(graph, size));
  const Memory memory = MemoryOf(graph, options.cache_bytes, chunk_bytes);
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
  SLIM_ASSIGN(const auto offers, MakeOffers(job, PartBytes(job.graph, size)));
  WideCount mine = 0;
  if (job.cluster.computes()) {
    Cliques cliques(job, size, chunk_bytes, *offers);
    const auto run = [&](std::uint32_t thread, Endpoint& endpoint) {
      return cliques.Run(thread, endpoint);
    };
    SLIM_TRY(RunEngines(job, kCliques, run));
    job.stolen_tasks += offers->stolen();
    mine = cliques.count();
  }
  SLIM_ASSIGN(const WideCount all, SumOverNodes(job.cluster.all(), mine));
  return Narrow(all, "cliques");
}

}  // namespace slimgraph::dkudu
