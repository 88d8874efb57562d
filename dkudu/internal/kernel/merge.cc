#include "dkudu/internal/kernel/sets.h"

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dkudu/internal/kernel/merge.cc"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace slimgraph::dkudu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<VertexId, kSetSlack>;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());
constexpr std::size_t kStep = 4;  // elements of b that are compared with a vector of a

// Intersects the remaining elements one by one.
template <bool kWrite>
std::size_t MergeRest(List a, List b, VertexId* into) {
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
std::size_t Merge(List a, List b, VertexId* into) {
  const Tag tag;
  std::size_t count = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  // `hits` marks the elements of a[i, i + kLanes) that are in b[.., j) and not counted yet.
  auto hits = hn::FirstN(tag, 0);
  const auto take = [&](auto block) HWY_ATTR {
    if constexpr (kWrite) {
      count += hn::CompressStore(block, hits, tag, into + count);
    } else {
      count += hn::CountTrue(tag, hits);
    }
  };
  while (i + kLanes <= a.size() && j + kStep <= b.size()) {
    const auto block = hn::LoadU(tag, a.data() + i);
    const VertexId* const few = b.data() + j;
    const auto two =
        hn::Or(hn::Eq(block, hn::Set(tag, few[0])), hn::Eq(block, hn::Set(tag, few[1])));
    const auto more =
        hn::Or(hn::Eq(block, hn::Set(tag, few[2])), hn::Eq(block, hn::Set(tag, few[3])));
    hits = hn::Or(hits, hn::Or(two, more));
    const VertexId last_a = a[i + kLanes - 1];
    const VertexId last_b = few[kStep - 1];
    if (last_b <= last_a) j += kStep;
    if (last_a <= last_b) {
      take(block);
      hits = hn::FirstN(tag, 0);
      i += kLanes;
    }
  }
  // The hits of an unfinished block are smaller than all remaining elements of b, so the scalar
  // loop cannot count them again.
  if (i + kLanes <= a.size()) take(hn::LoadU(tag, a.data() + i));
  return count + MergeRest<kWrite>(a.subspan(i), b.subspan(j), into + count);
}

std::size_t Count(List a, List b) { return Merge<false>(a, b, nullptr); }
std::size_t Write(List a, List b, VertexId* into) { return Merge<true>(a, b, into); }

}  // namespace
}  // namespace slimgraph::dkudu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimgraph::dkudu {

HWY_EXPORT(Count);
HWY_EXPORT(Write);

std::size_t IntersectByMerge(List a, List b, VertexId* into) {
  if (a.size() < b.size()) std::swap(a, b);
  return into != nullptr ? HWY_DYNAMIC_DISPATCH(Write)(a, b, into)
                         : HWY_DYNAMIC_DISPATCH(Count)(a, b);
}

}  // namespace slimgraph::dkudu
#endif
