#include "dkudu/internal/kernel/bit_rows.h"

#include <bit>

// Highway compiles this file once for each kind of processor, and picks a version at run time.
#define HWY_WANT_AVX3_DL 1  // has vector instructions that count bits
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dkudu/internal/kernel/bit_rows.cc"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace slimgraph::dkudu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<std::uint64_t, kRowGrain>;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());

// Calls visit(bit) for each bit set in words [first, last).
template <typename Visit>
HWY_INLINE void ForEachBit(const std::uint64_t* words, std::size_t first, std::size_t last,
                           Visit visit) {
  for (std::size_t w = first; w < last; ++w) {
    for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
      visit(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

// kWords: the words of a row if known at compile time, else 0.
template <std::size_t kWords>
HWY_INLINE std::uint64_t EdgesAmong(const std::uint64_t* among, const BitRows& rows,
                                    std::size_t first) {
  const Tag tag;
  const std::size_t words = kWords != 0 ? kWords : rows.words;
  auto sum = hn::Zero(tag);
  ForEachBit(among, first, words, [&](std::size_t bit) HWY_ATTR {
    const std::uint64_t* const row = rows.of(bit);
    for (std::size_t x = bit / 64 / kLanes * kLanes; x < words; x += kLanes) {
      const auto both = hn::And(hn::LoadU(tag, among + x), hn::LoadU(tag, row + x));
      sum = hn::Add(sum, hn::PopulationCount(both));
    }
  });
  return hn::GetLane(hn::SumOfLanes(tag, sum));
}

template <std::size_t kWords>
HWY_INLINE std::uint64_t TrianglesAmong(const std::uint64_t* among, const BitRows& rows) {
  const Tag tag;
  const std::size_t words = kWords != 0 ? kWords : rows.words;
  std::uint64_t count = 0;
  HWY_ALIGN std::uint64_t known[kWords != 0 ? kWords : 1];
  std::uint64_t* const shared = kWords != 0 ? known : rows.scratch;
  ForEachBit(among, 0, words, [&](std::size_t bit) HWY_ATTR {
    const std::uint64_t* const row = rows.of(bit);
    const std::size_t first = bit / 64 / kLanes * kLanes;
    for (std::size_t x = first; x < words; x += kLanes) {
      hn::StoreU(hn::And(hn::LoadU(tag, among + x), hn::LoadU(tag, row + x)), tag, shared + x);
    }
    count += EdgesAmong<kWords>(shared, rows, first);
  });
  return count;
}

std::uint64_t Edges(const std::uint64_t* among, const BitRows& rows) {
  return rows.words == kRowGrain ? EdgesAmong<kRowGrain>(among, rows, 0)
                                 : EdgesAmong<0>(among, rows, 0);
}

std::uint64_t Triangles(const std::uint64_t* among, const BitRows& rows) {
  return rows.words == kRowGrain ? TrianglesAmong<kRowGrain>(among, rows)
                                 : TrianglesAmong<0>(among, rows);
}

}  // namespace
}  // namespace slimgraph::dkudu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimgraph::dkudu {
namespace {

HWY_EXPORT(Edges);
HWY_EXPORT(Triangles);

// For rows of one word, which need no vectors.
std::uint64_t EdgesInWord(std::uint64_t among, const BitRows& rows) {
  std::uint64_t count = 0;
  for (std::uint64_t left = among; left != 0; left &= left - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(left));
    count += static_cast<std::uint64_t>(std::popcount(among & *rows.of(bit)));
  }
  return count;
}

}  // namespace

std::uint64_t CountEdges(const std::uint64_t* among, const BitRows& rows) {
  if (rows.words == 1) return EdgesInWord(*among, rows);
  return HWY_DYNAMIC_DISPATCH(Edges)(among, rows);
}

std::uint64_t CountTriangles(const std::uint64_t* among, const BitRows& rows) {
  if (rows.words > 1) return HWY_DYNAMIC_DISPATCH(Triangles)(among, rows);
  std::uint64_t count = 0;
  for (std::uint64_t left = *among; left != 0; left &= left - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(left));
    count += EdgesInWord(*among & *rows.of(bit), rows);
  }
  return count;
}

}  // namespace slimgraph::dkudu
#endif
