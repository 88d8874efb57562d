#include "dgemini/programs.h"

#include "dgemini/internal/leaving.h"
#include "dgemini/internal/path_counts.h"
#include "dgemini/internal/reductions.h"

namespace slimgraph::dgemini {
namespace {

// The backward pass of Brandes: accumulates each vertex's dependency from its successors.
template <typename Count>
struct Backward {
  using Value = Count;
  using Reduction = SumOfActive<Count, /*kAlsoOfNone=*/true>;
  VertexArray<Count>& paths;  // of a processed vertex: (1 + dependency) / paths
  VertexArray<double>& score;
  const Search& search;  // its `levels` are those that are not processed yet
  VertexId source;

  Count SumIf(std::span<const VertexId> ids, auto is_behind) const {
    Count sum{};
    for (const VertexId w : ids) {
      if (is_behind(w)) sum += paths[w];
    }
    return sum;
  }
  void Pull(VertexId v, const Neighbours& out) {
    // Successors are the neighbours in the next level. If that level has a bitmap, a test of it is
    // faster than a comparison of depths.
    const std::size_t next = search.levels.size();
    const Count sum = search.in.has_bitmap()
                          ? SumIf(out.ids, [&](VertexId w) { return search.in.Has(w); })
                          : SumIf(out.ids, [&](VertexId w) { return search.depth[w] == next; });
    Finish(v, sum);
  }
  void Finish(VertexId v, Count sum) {
    const auto dependency = static_cast<double>(paths[v] * sum);
    paths[v] = Count(1 + dependency) / paths[v];
    if (v != source) score[v] += dependency;
  }
  Count Signal(VertexId v) const { return paths[v]; }
  void Mirror(VertexId v, Count value) { paths[v] = value; }
};

// Where a run is.
struct Place {
  std::uint64_t source = 0;  // an index
  bool wide = false;         // counts are wide numbers
  bool backward = false;     // the search has ended
};

// The sources one after the other. Other compute nodes may continue between two levels.
class CentralityRun {
 public:
  CentralityRun(Engine& engine, std::span<const VertexId> sources)
      : engine_(engine), sources_(sources), score_(engine.vertices()) {}

  // Returns early if other compute nodes shall continue.
  Status Run() {
    if (sources_.empty()) return {};
    Clear();
    SLIM_ASSIGN(resumed_, Handed([&](auto&&... state) { return Resume(engine_, state...); }));
    if (resumed_) SLIM_TRY(FindLevels());
    while (true) {
      engine_.job().SetProgress(place_.source, sources_.size());
      if (!resumed_) SLIM_TRY(Begin());
      SLIM_ASSIGN(const bool left, RunFromSource());
      if (left || ++place_.source == sources_.size()) return {};
      Clear();
    }
  }
  VertexArray<double> TakeScore() { return std::move(score_); }

 private:
  // The state between two levels.
  Result<bool> Handed(auto leave_or_resume) {
    return leave_or_resume(OfShare{score_}, search_.depth, OfShare{paths_}, OfShare{wide_}, place_,
                           search_.level, search_.left);
  }
  Result<bool> Leaves() {
    return Handed([&](auto&&... state) { return Leave(engine_, state...); });
  }

  void Clear() {
    const VertexId vertices = engine_.vertices();
    search_ = {
        engine_.Values(kUnreached), Frontier(vertices), Frontier(vertices), 1, engine_.arcs(), {}};
    paths_ = VertexArray<double>(vertices);
    wide_ = VertexArray<WideNumber>(vertices);
  }

  Status Begin() {
    const VertexId source = sources_[place_.source];
    place_.wide = place_.backward = false;
    search_.depth[source] = 0;
    paths_[source] = 1;
    return engine_.Activate(search_.in, std::span(&source, 1));
  }

  // Of a search that others have begun, the depths tell the levels. In the backward pass, `level`
  // is how many of them are not processed yet.
  Status FindLevels() {
    const std::uint32_t known = search_.level;
    std::vector<VertexLists> lists(known + std::size_t{1});
    for (VertexId v = 0; v < engine_.vertices(); ++v) {
      const std::uint32_t depth = search_.depth[v];
      if (depth <= known && engine_.mine(v)) lists[depth].part(0).push_back(v);
    }
    VertexLists behind = std::move(lists.back());
    lists.pop_back();
    if (place_.backward) {
      search_.in.SetList(std::move(behind));
    } else {
      VertexLists last = std::move(lists.back());
      lists.pop_back();
      SLIM_TRY(engine_.SetActive(search_.in, std::move(last)));
    }
    search_.levels = std::move(lists);
    return {};
  }

  // Returns whether other compute nodes continue.
  Result<bool> RunFromSource() {
    if (!place_.wide && !place_.backward) {
      SLIM_ASSIGN(const Counted counted, CountFrom(paths_));
      if (counted == Counted::kLeft) return true;
      place_.wide = counted == Counted::kTooMany;
      if (place_.wide) engine_.ForEach([&](VertexId v) { wide_[v] = WideNumber(paths_[v]); });
    }
    if (place_.wide && !place_.backward) {
      SLIM_ASSIGN(const Counted counted, CountFrom(wide_));
      if (counted == Counted::kLeft) return true;
      if (counted == Counted::kTooMany) {
        return InputError("more than 2^32767 shortest paths lead to a vertex");
      }
    }
    place_.backward = true;
    resumed_ = false;
    return place_.wide ? GoBack(wide_) : GoBack(paths_);
  }

  template <typename Count>
  Result<Counted> CountFrom(VertexArray<Count>& paths) {
    return CountPaths(engine_, search_, paths, std::exchange(resumed_, false),
                      [&] { return Leaves(); });
  }

  template <typename Count>
  Result<bool> GoBack(VertexArray<Count>& paths) {
    Backward<Count> step{paths, score_, search_, sources_[place_.source]};
    for (auto& levels = search_.levels; !levels.empty(); levels.pop_back()) {
      search_.level = static_cast<std::uint32_t>(levels.size());
      SLIM_ASSIGN(const bool left, Leaves());
      if (left) return true;
      SLIM_TRY(engine_.Collect(search_.in, levels.back(), step));
      search_.in.SetList(std::move(levels.back()));
    }
    return false;
  }

  Engine& engine_;
  std::span<const VertexId> sources_;
  VertexArray<double> score_;
  Search search_;
  VertexArray<double> paths_;
  VertexArray<WideNumber> wide_;
  Place place_;
  bool resumed_ = false;
};

}  // namespace

Result<VertexArray<double>> Centrality(Engine& engine, std::span<const VertexId> sources) {
  CentralityRun run(engine, sources);
  SLIM_TRY(run.Run());
  return run.TakeScore();
}

}  // namespace slimgraph::dgemini
