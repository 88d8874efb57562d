#include "txnlayer/internal/store/old_versions.h"

#include <xxhash.h>

#include <algorithm>

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kRoomBytes = 16 << 20;
constexpr std::uint64_t kPinnedRoomBytes = 256 << 10;  // where all memory is taken at once

std::uint64_t Checksum(const std::byte* bytes, std::uint64_t all_bytes, KeptAs as) {
  constexpr int kPlaceBits = 48;  // more than a region has
  const std::uint64_t seed = std::uint64_t{as.table} << kPlaceBits ^ as.place;
  return XXH3_64bits_withSeed(bytes + kWordBytes, all_bytes - kWordBytes, seed);
}

}  // namespace

void KeptVersion::Seal(std::uint64_t all_bytes, Timestamp written, VersionLink older,
                       KeptAs as) const {
  std::memcpy(bytes + kWordBytes, &written, sizeof written);
  std::memcpy(bytes + 2 * kWordBytes, &older, sizeof older);
  const std::uint64_t checksum = Checksum(bytes, all_bytes, as);
  std::memcpy(bytes, &checksum, sizeof checksum);
}

bool KeptVersion::IsWhole(std::uint64_t all_bytes, KeptAs as) const {
  return word(0) == Checksum(bytes, all_bytes, as);
}

std::uint64_t OldVersions::HeadBytes(NodeId nodes, std::uint32_t threads) {
  const std::uint64_t bytes = (threads + 1 + std::uint64_t{nodes} * threads) * kWordBytes;
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

OldVersions::OldVersions(const SharedRegion& region, NodeId nodes, std::uint32_t threads,
                         std::uint64_t room_bytes)
    : region_(region.id),
      memory_(region.memory),
      threads_(threads),
      head_bytes_(HeadBytes(nodes, threads)),
      room_bytes_(room_bytes) {
  for (std::uint32_t thread = 0; thread < threads; ++thread) OldestReader(thread).store(kNoReader);
}

Result<std::unique_ptr<OldVersions>> OldVersions::Make(Fabric& fabric, std::uint32_t threads,
                                                       std::uint64_t room_bytes) {
  if (room_bytes == 0) room_bytes = fabric.pages_on_demand() ? kRoomBytes : kPinnedRoomBytes;
  room_bytes = room_bytes / kWordBytes * kWordBytes;
  SLIM_ASSIGN(const SharedRegion region, fabric.Share(HeadBytes(fabric.nodes(), threads) +
                                                      fabric.nodes() * threads * room_bytes));
  return std::unique_ptr<OldVersions>(new OldVersions(region, fabric.nodes(), threads, room_bytes));
}

bool KeptRoom::NextChunk(OfHome& home) {
  home.full.push_back(home.now);
  const Chunk& oldest = home.full.front();
  if (oldest.until < horizon_) {
    home.now = {.begin = oldest.begin};
    home.full.pop_front();
    return true;
  }
  crowded_ = true;
  if ((home.chunks + 1) * all_.chunk_bytes() > all_.room_bytes()) {
    home.now = home.full.back();
    home.full.pop_back();
    return false;
  }
  home.now = {.begin = home.chunks++ * all_.chunk_bytes()};
  return true;
}

VersionLink KeptRoom::Take(NodeId home, std::uint64_t bytes, Timestamp until) {
  OfHome& of_home = of_homes_[home];
  if (of_home.now.used + bytes > all_.chunk_bytes() && !NextChunk(of_home)) return kNotKept;
  Chunk& chunk = of_home.now;
  const std::uint64_t at = chunk.begin + chunk.used;
  chunk.used += bytes;
  chunk.until = std::max(chunk.until, until);
  return first_ + at;
}

void KeptRoom::SetHorizon(Timestamp horizon) {
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
