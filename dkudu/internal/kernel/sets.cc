#include "dkudu/internal/kernel/sets.h"

#include <utility>

namespace slimgraph::dkudu {
namespace {

// How many times longer a list must be for a search to be faster than a merge.
constexpr std::size_t kSearchRatio = 24;

// The first element of [at, end) that is not below v, found in steps that double from `at`.
const VertexId* Gallop(const VertexId* at, const VertexId* end, VertexId v) {
  std::ptrdiff_t step = 1;
  const VertexId* low = at;
  while (step < end - at && at[step] < v) {
    low = at + step;
    step *= 2;
  }
  return std::lower_bound(low, at + std::min<std::ptrdiff_t>(step + 1, end - at), v);
}

template <bool kWrite>
std::size_t IntersectBySearch(List few, List many, VertexId* into) {
  std::size_t count = 0;
  const VertexId* at = many.data();
  const VertexId* const end = at + many.size();
  for (const VertexId v : few) {
    at = Gallop(at, end, v);
    if (at == end) break;
    if (*at != v) continue;
    if constexpr (kWrite) into[count] = v;
    ++count;
  }
  return count;
}

std::size_t SubtractSorted(List from, List without, VertexId* into) {
  std::size_t count = 0;
  const VertexId* at = without.data();
  const VertexId* const end = at + without.size();
  const bool search = without.size() > kSearchRatio * from.size();
  for (const VertexId v : from) {
    if (search) {
      at = at == end ? end : Gallop(at, end, v);
    } else {
      while (at != end && *at < v) ++at;
    }
    if (at == end || *at != v) into[count++] = v;
  }
  return count;
}

}  // namespace

std::size_t Intersect(List a, List b, VertexId* into) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return 0;
  if (b.size() <= kSearchRatio * a.size()) return IntersectByMerge(a, b, into);
  return into != nullptr ? IntersectBySearch<true>(a, b, into)
                         : IntersectBySearch<false>(a, b, nullptr);
}

std::size_t Subtract(List from, List without, VertexId* into) {
  if (into == nullptr) return from.size() - Intersect(from, without, nullptr);
  return SubtractSorted(from, without, into);
}

}  // namespace slimgraph::dkudu
