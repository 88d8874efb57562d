#include "txnlayer/ordered/internal/first_leaves.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "slimgraph/cluster/gather.h"

namespace slimgraph::txn {
namespace {

// By so many keys for each member, all keys are divided into parts of about the same size.
constexpr std::uint64_t kSamples = 64;

// Collective: where the members' parts begin, except the first one's.
Result<std::vector<Key>> Bounds(Collectives& members, std::span<const Key> sorted) {
  SLIM_ASSIGN(const std::uint64_t keys, members.AllSum(std::uint64_t{sorted.size()}));
  const std::uint64_t apart = std::max<std::uint64_t>(1, keys / (members.size() * kSamples));
  std::vector<Key> mine;
  for (std::size_t i = apart / 2; i < sorted.size(); i += apart) mine.push_back(sorted[i]);
  SLIM_ASSIGN(std::vector<Key> samples, GatherList<Key>(members, mine));
  std::sort(samples.begin(), samples.end());
  std::vector<Key> bounds;
  for (std::size_t rank = 1; rank < members.size() && !samples.empty(); ++rank) {
    bounds.push_back(samples[samples.size() * rank / members.size()]);
  }
  return bounds;
}

// Collective: all leaves but the last have kLoadedKeys keys, whatever the parts. So the leaf that
// a part ends with gets the missing keys from the parts after it.
Result<std::vector<Key>> WithWholeLeaves(Collectives& members, std::vector<Key> sorted) {
  const std::uint64_t size = sorted.size();
  SLIM_ASSIGN(const auto sizes, GatherList<std::uint64_t>(members, std::span(&size, 1)));
  std::vector<std::uint64_t> begins(members.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), std::uint64_t{0});
  const std::uint64_t in_leaf = begins[members.rank()] % kLoadedKeys;
  std::vector<std::vector<Key>> to_node(members.members().back() + std::size_t{1});
  if (in_leaf > 0) {  // the part begins within a leaf
    const std::uint64_t leaf_begins = begins[members.rank()] - in_leaf;
    const auto owner = std::upper_bound(begins.begin(), begins.end(), leaf_begins) - 1;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(
                                          std::min<std::uint64_t>(size, kLoadedKeys - in_leaf));
    to_node[members.members()[static_cast<std::size_t>(owner - begins.begin())]].assign(
        sorted.begin(), end);
    sorted.erase(sorted.begin(), end);
  }
  SLIM_ASSIGN(const std::vector<Key> missing, SendToEach(members, std::move(to_node)));
  sorted.insert(sorted.end(), missing.begin(), missing.end());
  return sorted;
}

}  // namespace

Result<std::vector<Key>> SortAcross(Collectives& members, std::vector<Key> mine) {
  std::sort(mine.begin(), mine.end());
  SLIM_ASSIGN(const std::vector<Key> bounds, Bounds(members, mine));
  std::vector<std::vector<Key>> to_node(members.members().back() + std::size_t{1});
  auto at = mine.begin();
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const auto end =
        rank < bounds.size() ? std::lower_bound(at, mine.end(), bounds[rank]) : mine.end();
    to_node[members.members()[rank]].assign(at, end);
    at = end;
  }
  mine = {};
  SLIM_ASSIGN(std::vector<Key> part, SendToEach(members, std::move(to_node)));
  std::sort(part.begin(), part.end());
  return WithWholeLeaves(members, std::move(part));
}

Result<std::vector<Leaf>> LeavesAcross(Collectives& members, std::span<const Key> sorted) {
  SLIM_ASSIGN(const auto firsts, GatherByRank(members, sorted.first(sorted.empty() ? 0 : 1)));
  const auto some = [](const std::vector<Key>& first) { return !first.empty(); };
  const auto own = firsts.begin() + static_cast<std::ptrdiff_t>(members.rank());
  const bool begins = std::none_of(firsts.begin(), own, some);  // no member before has keys
  const auto next = std::find_if(own + 1, firsts.end(), some);
  const bool ends = next == firsts.end();
  std::vector<Leaf> leaves;
  for (std::size_t begin = 0; begin < sorted.size(); begin += kLoadedKeys) {
    const std::size_t end = std::min<std::size_t>(sorted.size(), begin + kLoadedKeys);
    const Key after = ends ? 0 : next->front();
    Leaf& leaf = leaves.emplace_back(Leaf{.low = begins && begin == 0 ? 0 : sorted[begin],
                                          .high = end < sorted.size() ? sorted[end] : after,
                                          .count = end - begin});
    std::copy(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
              sorted.begin() + static_cast<std::ptrdiff_t>(end), leaf.keys);
  }
  if (members.rank() == 0 && sorted.empty() && ends) leaves.emplace_back();
  return leaves;
}

}  // namespace slimgraph::txn
