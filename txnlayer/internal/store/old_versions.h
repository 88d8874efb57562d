// Versions of records that have been replaced, for read-only transactions that read at an earlier
// time. A writer keeps the version that it replaces in room that its thread has in the memory of
// the tuple's home, and links it from the tuple. So the versions of a tuple form a chain.
//
// The room is used again when the version was replaced so long ago that no read-only transaction
// can need it. For that, each thread publishes the time of its oldest one. The times
// come from clocks that may differ, and threads may be stopped at any moment, so this is not
// certain. Therefore each version carries a checksum of itself, its table and its place: a reader
// notices when its version has been overwritten.
//
// A kept version: the checksum, the time of its commit, the link to the version before it, the key,
// and the version with its word.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/words.h"
#include "slimgraph/fabric/fabric.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

// The offset of a kept version in the memory of the tuple's home.
using VersionLink = std::uint64_t;
constexpr VersionLink kNoOlder = 0;       // before that, there was no record
constexpr VersionLink kNotKept = 1;       // there was no room for it
constexpr std::uint64_t kKeptHeader = 3;  // words before the key

// Which table a version is of, and where it is kept.
struct KeptAs {
  std::uint32_t table;
  VersionLink place;
};

// The parts of a kept version.
struct KeptVersion {
  std::byte* bytes = nullptr;

  std::uint64_t word(std::size_t which) const {
    std::uint64_t word;
    std::memcpy(&word, bytes + which * kWordBytes, sizeof word);
    return word;
  }
  Timestamp written() const { return word(1); }
  VersionLink older() const { return word(2); }
  std::uint64_t key() const { return word(3); }
  const std::byte* version() const { return bytes + (kKeptHeader + 1) * kWordBytes; }
  void SetImage(std::uint64_t key, const std::byte* version, std::uint64_t version_bytes) const {
    std::memcpy(image(), &key, sizeof key);
    std::memcpy(image() + kWordBytes, version, version_bytes);
  }
  std::byte* image() const { return bytes + kKeptHeader * kWordBytes; }
  // Completes the header of an image that is to be kept.
  void Seal(std::uint64_t all_bytes, Timestamp written, VersionLink older, KeptAs as) const;
  bool IsWhole(std::uint64_t all_bytes, KeptAs as) const;
};

// A version of a tuple that is about to be replaced.
struct ReplacedVersion {
  bool there = true;      // false: its place has never had a version, so there is nothing to keep
  std::size_t place = 0;  // its number in the tuple
  Timestamp written = 0;
  VersionLink older = kNoOlder;  // the version kept before it
};

class OldVersions {
 public:
  static constexpr Timestamp kNoReader = ~Timestamp{0};

  static constexpr std::uint64_t kLeastRoom = 8192;
  // Collective. `room_bytes`: of each thread on each node, at least kLeastRoom; 0: as usual.
  static Result<std::unique_ptr<OldVersions>> Make(Fabric& fabric, std::uint32_t threads,
                                                   std::uint64_t room_bytes);

  RegionId region() const { return region_; }
  std::byte* memory() const { return memory_.data(); }
  std::uint64_t room_bytes() const { return room_bytes_; }
  std::uint64_t chunk_bytes() const { return std::max(kLeastChunk, room_bytes_ / kChunks); }
  // Where the room of a thread of `writer` begins, on each node.
  VersionLink RoomOf(NodeId writer, std::uint32_t thread) const {
    return head_bytes_ + (std::uint64_t{writer} * threads_ + thread) * room_bytes_;
  }
  static std::uint64_t KeptBytes(std::uint64_t image_bytes) {
    return kKeptHeader * kWordBytes + image_bytes;
  }

  // The time of the oldest read-only transaction of a thread of this node, or kNoReader. The words
  // of all threads are the first of the region. Behind them, node 0 has the counters of other
  // timestamps: the global one, and one for each thread of the job.
  SharedWord OldestReader(std::uint32_t thread) const {
    return WordAt(memory() + thread * kWordBytes);
  }
  std::uint32_t threads() const { return threads_; }
  std::uint64_t CounterAt() const { return threads_ * kWordBytes; }
  std::uint64_t CountersAt() const { return CounterAt() + kWordBytes; }
  // The number of the thread whose commit has that time, under kVector.
  std::uint64_t ThreadOf(Timestamp time) const {
    const std::uint64_t thread = time & ((std::uint64_t{1} << kTimeThreadBits) - 1);
    return (thread >> kThreadBits) * threads_ + thread % kMaxThreads;
  }

 private:
  static constexpr std::uint64_t kChunks = 64;
  static constexpr std::uint64_t kLeastChunk = 4096;  // more than any version
  OldVersions(const SharedRegion& region, NodeId nodes, std::uint32_t threads,
              std::uint64_t room_bytes);
  static std::uint64_t HeadBytes(NodeId nodes, std::uint32_t threads);

  RegionId region_;
  MutableBytes memory_;
  std::uint32_t threads_;
  std::uint64_t head_bytes_;
  std::uint64_t room_bytes_;
};

// The room of one thread on all nodes. It is taken by chunks, and a chunk is used again as a whole,
// before one that was never used. So a thread writes to as little memory as its readers allow.
class KeptRoom {
 public:
  KeptRoom(const OldVersions& all, NodeId self, std::uint32_t thread, NodeId nodes)
      : all_(all), first_(all.RoomOf(self, thread)), of_homes_(nodes) {}

  // Room on `home` for a version that is replaced at the time `until`; kNotKept: there is none.
  VersionLink Take(NodeId home, std::uint64_t bytes, Timestamp until);
  // Whether a later horizon should be found, so that chunks can be used again.
  bool crowded() const { return crowded_; }
  // No read-only transaction will need what was replaced before that time.
  void SetHorizon(Timestamp horizon);

 private:
  struct Chunk {
    std::uint64_t begin = 0;
    std::uint64_t used = 0;  // of its bytes
    Timestamp until = 0;     // when the last of its versions was replaced
  };
  struct OfHome {
    Chunk now;
    std::deque<Chunk> full;    // the oldest first
    std::uint64_t chunks = 1;  // that were ever used
  };
  bool NextChunk(OfHome& home);

  const OldVersions& all_;
  const VersionLink first_;
  std::vector<OfHome> of_homes_;
  Timestamp horizon_ = 0;
  bool crowded_ = false;
};

// The read-only transactions of one thread.
class OpenReaders {
 public:
  OpenReaders(const OldVersions& all, std::uint32_t thread) : word_(all.OldestReader(thread)) {}

  void Add(Timestamp time) {
    times_.push_back(time);
    if (time < oldest_) Publish(time);
  }
  void Remove(Timestamp time);

 private:
  void Publish(Timestamp oldest) {
    oldest_ = oldest;
    word_.store(oldest, std::memory_order_release);
  }

  SharedWord word_;
  Timestamp oldest_ = OldVersions::kNoReader;
  std::vector<Timestamp> times_;
};

}  // namespace slimgraph::txn
