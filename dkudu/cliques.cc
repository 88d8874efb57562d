#include "dkudu/cliques.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <optional>

#include "dkudu/graph/list_stream.h"
#include "dkudu/kernel/bit_matrix.h"
#include "dkudu/kernel/clique_kernel.h"
#include "dkudu/kernel/passed_roots.h"
#include "dkudu/work_offers.h"

namespace slimgraph {
namespace {

const Stage kCliques("cliques");

constexpr std::uint64_t kMinWindowBytes = 16 << 10;
constexpr std::uint64_t kMaxWindowBytes = 4 << 20;
constexpr std::size_t kTaskRoots = 128;

// Matrices that are smaller are counted where they are.
constexpr std::uint64_t kLeastOfferBytes = 8 << 10;

// Roots of triangles pass on while more than this share of their windows is to come: their lists
// cross once more.
constexpr double kFarBehind = 0.25;
constexpr std::uint64_t kMostRootsBytes = 256 << 10;  // at once

// The memory for lists of other nodes: two windows, and the rest for roots of memory nodes.
struct Memory {
  std::uint64_t window_bytes;
  std::uint64_t held_bytes;
  std::uint64_t matrix_bytes;
};

Memory MemoryOf(const MiningJob& job, std::uint64_t chunk_bytes) {
  const MiningOptions& options = job.options;
  const bool holds_roots = job.graph.root_homes().size() > 1;
  const std::uint64_t window_bytes =
      std::clamp(options.cache_bytes / (holds_roots ? 16 : 2), kMinWindowBytes, kMaxWindowBytes);
  // Each thread has one for roots that need no waiting.
  const std::uint64_t of_one_root = BitMatrix::Bytes(job.graph.sums().most_above);
  return {window_bytes, options.cache_bytes - std::min(options.cache_bytes, 2 * window_bytes),
          job.cluster.threads() * (chunk_bytes - std::min(chunk_bytes, of_one_root))};
}

// The work of one compute node: passes over the graph, each for the roots in a range of places.
class Cliques {
 public:
  Cliques(MiningJob& job, unsigned size, std::uint64_t chunk_bytes, WorkOffers& offers)
      : graph_(job.graph),
        lists_(job.lists),
        offers_(offers),
        fetch_(lists_.fetch(0)),
        size_(size),
        chunk_bytes_(chunk_bytes),
        memory_(MemoryOf(job, chunk_bytes)),
        threads_(job.cluster.threads()),
        meeting_(threads_),
        counts_(threads_),
        holds_(graph_.nodes()),
        homes_(graph_.nodes()) {
    for (const NodeId home : graph_.root_homes()) {
      if (home == graph_.self()) continue;
      delegated_.push_back(home);
      holds_[home] = true;
    }
  }

  // On every thread.
  Status Run(std::uint32_t thread, Endpoint& endpoint) {
    CliqueKernel kernel(graph_.vertices(), size_);
    bool well = true;
    for (VertexId end = graph_.vertices(); end > 0 && well;) {
      if (thread == 0) status_ = StartPass(end);
      meeting_.arrive_and_wait();
      while (status_ && more_) {
        WorkOnWindow(kernel, endpoint);
        meeting_.arrive_and_wait();
        if (thread == 0) status_ = NextWindow();
        meeting_.arrive_and_wait();
      }
      well = status_.has_value();
      end = roots_in_.first;
      meeting_.arrive_and_wait();  // thread 0 changes both in the next pass
    }
    if (well) SLIM_TRY(CountOffered(thread, kernel, endpoint));
    counts_[thread] = kernel.count();
    return thread == 0 ? status_ : Status{};
  }

  WideCount count() const {
    WideCount sum = 0;
    for (const WideCount count : counts_) sum += count;
    return sum;
  }

 private:
  std::uint64_t HeldEntries(PlaceRange range) const {
    std::uint64_t entries = 0;
    for (const NodeId home : delegated_) {
      const auto [begin, end] = ListsOf(graph_, home, range);
      entries += end - begin;
    }
    return entries;
  }

  // As many roots below `end` as memory is there for, but always one from each home.
  PlaceRange RootsBelow(VertexId end) const {
    VertexId first = end - std::min(end, graph_.nodes());
    std::uint64_t held_bytes = HeldEntries({first, end}) * sizeof(VertexId);
    std::uint64_t matrix_bytes = 0;
    while (first > 0) {
      const VertexId root = first - 1;
      const std::uint64_t size = graph_.displacements().size(root);
      if (holds_[graph_.home(root)]) held_bytes += size * sizeof(VertexId);
      if (size_ > 3 && graph_.nodes() > 1 && graph_.is_root(root)) {
        matrix_bytes += BitMatrix::Bytes(size);
      }
      if (held_bytes > memory_.held_bytes || matrix_bytes > memory_.matrix_bytes) break;
      first = root;
    }
    return {first, end};
  }

  Status StartPass(VertexId end) {
    roots_in_ = RootsBelow(end);
    SLIM_TRY(BringRoots());
    const PlaceRange range{roots_in_.first, graph_.vertices()};
    stream_ = std::make_unique<ListStream>(graph_, fetch_, range, roots_in_, holds_,
                                           memory_.window_bytes);
    const bool all_roots = roots_in_.first == 0 && roots_in_.end == graph_.vertices();
    if (!all_roots) stream_->Want(NeighboursOfRoots());
    return NextWindow();
  }

  // The lists of memory nodes' roots come in one read from each.
  Status BringRoots() {
    held_ = std::make_unique_for_overwrite<VertexId[]>(HeldEntries(roots_in_));
    VertexId* into = held_.get();
    homes_.assign(graph_.nodes(), {});
    for (const NodeId home : delegated_) {
      const auto [begin, end] = ListsOf(graph_, home, roots_in_);
      homes_[home] = {into, begin};
      if (begin == end) continue;
      fetch_.Ask(home, begin, std::span(into, end - begin));
      into += end - begin;
    }
    SLIM_TRY(fetch_.Finish(fetch_.Start()));
    roots_.clear();
    for (VertexId v = roots_in_.first; v < roots_in_.end; ++v) {
      if (!graph_.is_root(v)) continue;
      const List all = graph_.is_own(v) ? graph_.own(v) : At(homes_[graph_.home(v)], v);
      const List list = graph_.up(v, all);
      if (list.size() + 1 >= size_) roots_.push_back({list, 0, {}});
    }
    return {};
  }

  // By place.
  std::vector<bool> NeighboursOfRoots() const {
    std::vector<bool> neighbours(graph_.vertices());
    for (const CliqueRoot& root : roots_) {
      for (const VertexId v : root.list) neighbours[v] = true;
    }
    return neighbours;
  }

  Status NextWindow() {
    next_ = 0;
    SLIM_ASSIGN(more_, stream_->Next());
    far_behind_ = more_ && size_ == 3 && stream_->share_left() > kFarBehind;
    return {};
  }

  List At(const HomeLists& lists, VertexId v) const {
    const Displacements& displacements = graph_.displacements();
    return {lists.memory + (displacements.begin(v) - lists.begin), displacements.size(v)};
  }

  void WorkOnWindow(CliqueKernel& kernel, Endpoint& endpoint) {
    const PlaceRange window = stream_->window();
    const auto list_of = [&](VertexId v) {
      const NodeId home = graph_.home(v);
      if (home == graph_.self()) return graph_.up(v, graph_.own(v));
      return graph_.up(v, At(stream_->holds(home) ? homes_[home] : stream_->lists(home), v));
    };
    const auto pass_on = [&](std::size_t neighbours, const BitMatrix& matrix) {
      const Bytes words = std::as_bytes(matrix.words());
      return words.size() >= kLeastOfferBytes && offers_.wanted() &&
             offers_.Offer(endpoint, neighbours, words);
    };
    while (true) {
      const std::size_t first = next_.fetch_add(kTaskRoots);
      if (first >= roots_.size()) return;
      std::span<CliqueRoot> roots(roots_);
      roots = roots.subspan(first, std::min(kTaskRoots, roots.size() - first));
      if (far_behind_ && offers_.wanted()) roots = roots.subspan(PassOn(roots, endpoint));
      for (CliqueRoot& root : roots) kernel.Join(root, window.end, list_of, pass_on);
    }
  }

  // The number of roots, from the first, that nothing is left to do for here.
  std::size_t PassOn(std::span<CliqueRoot> roots, Endpoint& endpoint) {
    std::vector<std::uint64_t> words;
    const std::size_t packed = PackRoots(roots, kMostRootsBytes, words);
    if (words.empty() || !offers_.Offer(endpoint, packed, std::as_bytes(std::span(words))))
      return 0;
    for (CliqueRoot& root : roots.first(packed)) {
      root.joined = static_cast<std::uint32_t>(root.list.size());
    }
    return packed;
  }

  // The roots of engines that are behind: of triangles what is left of them, of larger cliques
  // their matrices, in which is all that takes long.
  Status CountOffered(std::uint32_t thread, CliqueKernel& kernel, Endpoint& endpoint) {
    std::vector<std::uint64_t> words;
    std::optional<PassedRoots> passed;
    BitMatrix matrix;
    while (true) {
      SLIM_ASSIGN(const auto label, offers_.Take(endpoint, words));
      if (!label) return {};
      if (size_ == 3) {
        if (!passed) passed.emplace(graph_, lists_.fetch(thread), chunk_bytes_);
        SLIM_TRY(passed->Count(words, kernel));
        continue;
      }
      matrix.Take(*label, std::move(words));
      kernel.Count(matrix);
    }
  }

  const MiningGraph& graph_;
  ListExchange& lists_;
  WorkOffers& offers_;
  ListFetch& fetch_;
  unsigned size_;
  std::uint64_t chunk_bytes_;
  Memory memory_;
  std::uint32_t threads_;
  std::barrier<> meeting_;
  std::vector<WideCount> counts_;  // by thread

  // Of the pass; changed by thread 0 while the others wait.
  Status status_;
  PlaceRange roots_in_;
  std::vector<CliqueRoot> roots_;
  std::vector<NodeId> delegated_;  // homes of roots that are memory nodes
  std::vector<bool> holds_;        // by node, whether it is one of them
  std::vector<HomeLists> homes_;   // what is held of memory nodes
  std::unique_ptr<VertexId[]> held_;
  std::unique_ptr<ListStream> stream_;
  bool more_ = false;
  bool far_behind_ = false;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

std::uint64_t LeastCliqueBytes(const MiningGraph& graph, unsigned size) {
  if (size == 3) return graph.compute() > 1 ? LeastKernelBytes(graph) : 0;
  return BitMatrix::Bytes(graph.sums().most_above) * (1 + graph.nodes());
}

Result<std::uint64_t> CountCliques(MiningJob& job, unsigned size) {
  SLIM_ASSIGN(const auto chunk_bytes, ChunkBytes(job, LeastCliqueBytes(job.graph, size)));
  const std::uint64_t largest =
      size == 3 ? kMostRootsBytes : BitMatrix::Bytes(job.graph.sums().most_above);
  SLIM_ASSIGN(const auto offers,
              WorkOffers::Make(job, std::min(largest, WorkOffers::kMostPartBytes)));
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

}  // namespace slimgraph
