#include "txnlayer/internal/store/old_versions.h"

#include <xxhash.h>

#include <algorithm>

namespace slimgraph::txn {
namespace {

// In a simulation little, so that rings become full.
#ifdef SLIMGRAPH_SIM
constexpr std::uint64_t kRingBytes = 16 << 10;
constexpr std::uint64_t kPinnedRingBytes = kRingBytes;
#else
constexpr std::uint64_t kRingBytes = 4 << 20;
constexpr std::uint64_t kPinnedRingBytes = 256 << 10;  // where all memory is taken at once
#endif

std::uint64_t Checksum(const std::byte* bytes, std::uint64_t all_bytes, VersionLink place) {
  return XXH3_64bits_withSeed(bytes + kWordBytes, all_bytes - kWordBytes, place);
}

}  // namespace

void KeptVersion::Seal(std::uint64_t all_bytes, Timestamp written, VersionLink older,
                       VersionLink place) const {
  std::memcpy(bytes + kWordBytes, &written, sizeof written);
  std::memcpy(bytes + 2 * kWordBytes, &older, sizeof older);
  const std::uint64_t checksum = Checksum(bytes, all_bytes, place);
  std::memcpy(bytes, &checksum, sizeof checksum);
}

bool KeptVersion::IsWhole(std::uint64_t all_bytes, VersionLink place) const {
  return word(0) == Checksum(bytes, all_bytes, place);
}

std::uint64_t OldVersions::ReadersBytes(std::uint32_t threads) {
  const std::uint64_t bytes = threads * kWordBytes;
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

OldVersions::OldVersions(const SharedRegion& region, std::uint32_t threads,
                         std::uint64_t ring_bytes)
    : region_(region.id),
      memory_(region.memory),
      threads_(threads),
      readers_bytes_(ReadersBytes(threads)),
      ring_bytes_(ring_bytes) {
  for (std::uint32_t thread = 0; thread < threads; ++thread) OldestReader(thread).store(kNoReader);
}

Result<std::unique_ptr<OldVersions>> OldVersions::Make(Fabric& fabric, std::uint32_t threads) {
  const std::uint64_t ring = fabric.pages_on_demand() ? kRingBytes : kPinnedRingBytes;
  SLIM_ASSIGN(const SharedRegion region,
              fabric.Share(ReadersBytes(threads) + fabric.nodes() * threads * ring));
  return std::unique_ptr<OldVersions>(new OldVersions(region, threads, ring));
}

VersionLink KeptRings::Take(NodeId home, std::uint64_t bytes, Timestamp until) {
  Ring& ring = rings_[home];
  while (!ring.kept.empty() && ring.kept.front().until < horizon_) {
    ring.used -= ring.kept.front().end - ring.kept.front().begin;
    ring.kept.pop_front();
  }
  const std::uint64_t size = all_.ring_bytes();
  if (2 * ring.used > size) crowded_ = true;
  // It goes behind the youngest, or to the beginning if it does not fit before the end.
  std::uint64_t begin = ring.kept.empty() ? 0 : ring.kept.back().end;
  std::uint64_t end = size;
  if (!ring.kept.empty()) {
    const std::uint64_t oldest = ring.kept.front().begin;
    const bool behind_oldest = ring.kept.back().begin >= oldest;
    if (behind_oldest && begin + bytes > size) begin = 0;
    if (!behind_oldest || begin == 0) end = oldest;
  }
  if (begin + bytes > end) {
    crowded_ = true;
    return kNotKept;
  }
  ring.kept.push_back({begin, begin + bytes, until});
  ring.used += bytes;
  return first_ + begin;
}

void KeptRings::SetHorizon(Timestamp horizon) {
  horizon_ = std::max(horizon_, horizon);
  crowded_ = false;
}

void OpenReaders::Remove(Timestamp time) {
  *std::find(times_.begin(), times_.end(), time) = times_.back();
  times_.pop_back();
  if (time > oldest_) return;
  const auto oldest = std::min_element(times_.begin(), times_.end());
  Publish(oldest == times_.end() ? OldVersions::kNoReader : *oldest);
}

}  // namespace slimgraph::txn
