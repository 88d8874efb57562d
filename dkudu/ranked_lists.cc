#include "dkudu/ranked_lists.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "dkudu/internal/graph/ranked_file.h"
#include "slimgraph/base/available_memory.h"
#include "slimgraph/base/parallel.h"

namespace slimgraph::dkudu {
namespace {

// Visits the complete lists of the whole graph, by the ranks of its vertices.
Status VisitAll(FileLists& lists, const FileLists::Visit& visit) {
  for (bool more = true; more;) {
    SLIM_ASSIGN(more, lists.VisitNext(visit));
  }
  return {};
}

VertexPart Everything(const GraphSource& graph) {
  return {.first = 0, .stride = 1, .count = graph.vertices()};
}

std::size_t ThreadsFor(std::size_t wanted) { return wanted == 0 ? UsableThreads() : wanted; }

// Where each list begins, by rank; then the bytes of all.
std::vector<std::uint64_t> PlaceLists(const std::vector<RankedLength>& lengths,
                                      const ListCode& code) {
  std::vector<std::uint64_t> places(lengths.size() + 1);
  std::uint64_t at = 0;
  for (VertexId stratum = 0; stratum < kStrata; ++stratum) {
    for (std::size_t rank = StratumOf(stratum); rank < lengths.size(); rank += kStrata) {
      places[rank] = at;
      at += code.Bytes(lengths[rank].all);
    }
  }
  places.back() = at;
  return places;
}

}  // namespace

Result<RankedSections> MakeRankedLists(const GraphSource& graph, std::size_t threads) {
  threads = ThreadsFor(threads);
  SLIM_TRY(CheckForMining(graph, ListPart::kAll));
  SLIM_ASSIGN(DegreeOrder order, DegreeOrder::Of(graph));
  FileLists lists(graph, ListPart::kAll, order.rank_of(), Everything(graph), threads);
  SLIM_ASSIGN(const FileLists::Sizes sizes, lists.Measure());
  RankedSections made{.dense_of = std::move(order.dense_of), .lengths = {}, .lists = {}};
  for (const VertexId v : made.dense_of) made.lengths.push_back({sizes.lengths[v], 0});
  const ListCode code(graph.vertices());
  const std::vector<std::uint64_t> places = PlaceLists(made.lengths, code);
  made.list_bytes = places.back();
  SLIM_TRY(CheckMemory(made.list_bytes, "coding the lists"));
  SLIM_ASSIGN(made.lists, PageBuffer::Allocate(std::max<std::uint64_t>(made.list_bytes, 1)));
  SLIM_TRY(VisitAll(lists, [&](std::size_t, VertexId rank, List list) {
    code.Encode(list, made.lists.data() + places[rank]);
    made.lengths[rank].above = static_cast<std::uint32_t>(Above(list, rank).size());
  }));
  return made;
}

Status CheckRankedLists(const GraphSource& file, std::size_t threads) {
  if (!RankedFile::Has(file, ListPart::kAll)) return {};
  threads = ThreadsFor(threads);
  SLIM_ASSIGN(const RankedFile ranked, RankedFile::Open(file, ListPart::kAll, threads));
  std::vector<VertexId> rank_of(file.vertices());
  for (VertexId rank = 0; rank < rank_of.size(); ++rank) rank_of[ranked.dense_of()[rank]] = rank;
  std::vector<std::size_t> begins(rank_of.size() + 1);
  for (VertexId rank = 0; rank < rank_of.size(); ++rank) {
    begins[rank + 1] = begins[rank] + ranked.length(rank);
  }
  std::vector<VertexId> entries(begins.back());
  SLIM_TRY(ranked.VisitLists({}, threads, [&](VertexId rank, Bytes, List list) {
    std::copy(list.begin(), list.end(),
              entries.begin() + static_cast<std::ptrdiff_t>(begins[rank]));
  }));
  FileLists lists(file, ListPart::kAll, rank_of, Everything(file), threads);
  std::atomic<std::size_t> wrong = rank_of.size();  // a rank
  SLIM_TRY(VisitAll(lists, [&](std::size_t, VertexId rank, List list) {
    const List kept = List(entries).subspan(begins[rank], ranked.length(rank));
    if (!std::ranges::equal(kept, list)) wrong = rank;
  }));
  if (wrong == rank_of.size()) return {};
  return InputError("{}: the list of rank {} is not that of the graph", file.path(), wrong.load());
}

}  // namespace slimgraph::dkudu
