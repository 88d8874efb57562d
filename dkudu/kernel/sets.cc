#include "dkudu/kernel/sets.h"

namespace slimgraph {
namespace {

// How many times longer a list must be for searching to beat merging.
constexpr std::size_t kSearchRatio = 24;

// The first element of [at, end) that is not below v, in steps that double from `at`.
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

template <bool kWrite>
std::size_t IntersectByMerge(List a, List b, VertexId* into) {
  std::size_t count = 0;
  const VertexId* x = a.data();
  const VertexId* y = b.data();
  const VertexId* const x_end = x + a.size();
  const VertexId* const y_end = y + b.size();
  while (x != x_end && y != y_end) {
    const VertexId left = *x;
    const VertexId right = *y;
    if constexpr (kWrite) {
      if (left == right) into[count] = left;
    }
    count += left == right;
    x += left <= right;
    y += right <= left;
  }
  return count;
}

template <bool kWrite>
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
    if (at != end && *at == v) continue;
    if constexpr (kWrite) into[count] = v;
    ++count;
  }
  return count;
}

template <bool kWrite>
std::size_t IntersectSorted(List a, List b, VertexId* into) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return 0;
  return b.size() > kSearchRatio * a.size() ? IntersectBySearch<kWrite>(a, b, into)
                                            : IntersectByMerge<kWrite>(a, b, into);
}

}  // namespace

std::size_t Intersect(List a, List b, VertexId* into) {
  return into != nullptr ? IntersectSorted<true>(a, b, into)
                         : IntersectSorted<false>(a, b, nullptr);
}

std::size_t Subtract(List from, List without, VertexId* into) {
  return into != nullptr ? SubtractSorted<true>(from, without, into)
                         : SubtractSorted<false>(from, without, nullptr);
}

}  // namespace slimgraph
