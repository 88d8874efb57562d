#include "txnlayer/internal/store/table.h"

#include <sys/mman.h>
#include <unistd.h>

#include <unordered_map>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/interleave.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/words.h"
#include "txnlayer/internal/store/tuple_view.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kBucketsPerPage = 4096 / sizeof(Bucket);
// The room reserved for placeholders: one for this many records, plus kLeastPlaceholderRoom.
constexpr std::uint64_t kRecordsPerPlaceholder = 8;
constexpr std::uint64_t kLeastPlaceholderRoom = 64;

// Placeholders have this room beside that of records, in tuples.
std::uint64_t PlaceholderRoom(std::uint64_t room) {
  return room / kRecordsPerPlaceholder + kLeastPlaceholderRoom;
}

std::uint64_t RoundUp(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::uint64_t VersionBytes(const TableSpec& spec) {
  return kWordBytes + RoundUp(spec.record_bytes, kWordBytes);
}

std::uint64_t StrideOf(const TableSpec& spec, const TupleShape& shape) {
  const std::uint64_t words = shape.metadata_words + std::uint64_t{1};  // and the key
  return RoundUp(words * kWordBytes + shape.versions * VersionBytes(spec), kCacheLineBytes);
}

// For a lock that is held for less time than sleeping and waking up take.
std::unique_lock<Mutex> LockBriefly(Mutex& mutex) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (mutex.try_lock()) return {mutex, std::adopt_lock};
    SpinPause();
  }
  return std::unique_lock(mutex);
}

}  // namespace

std::uint64_t Table::TupleBytes(const TableSpec& spec, const TupleShape& shape) {
  return StrideOf(spec, shape) + sizeof(Bucket) / kMeanTuples;
}

Table::Table(Fabric& fabric, TableId id, TableSpec spec, const TupleShape& shape)
    : fabric_(fabric), nodes_(fabric.nodes()), id_(id), spec_(std::move(spec)), shape_(shape) {
  version_bytes_ = VersionBytes(spec_);
  stride_ = StrideOf(spec_, shape_);
  const std::uint64_t first_room = spec_.tuples_per_node;
  room_ = first_room;
  expected_ = spec_.expected_tuples == 0 ? first_room : std::min(first_room, spec_.expected_tuples);
  // With few buckets, grouping neighbours would leave hardly any choice of buckets.
  const std::uint64_t side_by_side =
      ((std::uint64_t{1} << spec_.neighbour_bits) + kMeanTuples - 1) / kMeanTuples;
  if (side_by_side < BucketsFor(expected_) / 2) {
    neighbour_bits_ = spec_.neighbour_bits;
    side_by_side_ = side_by_side;
  }
  SetBuckets(BucketsFor(expected_));
  most_buckets_ = grows() ? BucketsFor(most_room()) : buckets_;
  // Groups of neighbours can collide as a whole, which overflows more buckets.
  const std::uint64_t left_over = neighbour_bits_ == 0 ? most_buckets_ / 4 : most_buckets_ / 2;
  const std::uint64_t most_tuples = most_room() + PlaceholderRoom(most_room());
  overflow_ = left_over + (most_tuples - expected_) / kMeanTuples + 16;
  absences_at_ = (most_buckets_ + overflow_) * sizeof(Bucket);
  first_tuple_ = absences_at_ + (timed() ? kAbsences * 2 * kWordBytes : 0);
}

void Table::SetBuckets(std::uint64_t buckets) {
  buckets_ = buckets;
  starts_ = buckets - side_by_side_ + 1;
}

// While no more tuples are expected than at first, the buckets are those of the beginning. Later
// they suffice for half of the room, which is about what a sweep leaves in it.
void Table::SetRoom(std::uint64_t room) {
  for (const auto& part : parts_) part->touched = Touched(*part);
  room_ = room;
  SetBuckets(BucketsFor(room == spec_.tuples_per_node ? expected_ : std::max(expected_, room / 2)));
}

Result<std::unique_ptr<Table>> Table::Make(Fabric& fabric, TableId id, const TableSpec& spec,
                                           const TupleShape& shape, std::uint32_t replicas) {
  if (spec.record_bytes > kMaxRecordBytes) {
    return UsageError("a record of table {} has {} bytes; at most {} are possible", spec.name,
                      spec.record_bytes, kMaxRecordBytes);
  }
  std::unique_ptr<Table> table(new Table(fabric, id, spec, shape));
  const std::uint64_t tuples = table->most_room() + PlaceholderRoom(table->most_room());
  const std::uint64_t bytes = table->first_tuple_ + tuples * table->stride_;
  for (std::uint32_t i = 0; i < replicas; ++i) {
    SLIM_ASSIGN(const SharedRegion region, fabric.Share(bytes));
    for (NodeId node = 0; node < fabric.nodes(); ++node) {
      SLIM_CHECK(!fabric.alive(node) || fabric.region_bytes(node, region.id) == bytes,
                 "node {} has another layout of table {}", node, spec.name);
    }
    table->parts_.push_back(std::make_unique<Part>());
    table->parts_.back()->region = region.id;
    table->parts_.back()->memory = region.memory;
    std::copy_n(shape.fresh, kMaxMetadataWords, table->parts_.back()->fresh);
  }
  table->Prefault();
  return table;
}

void Table::Prefault() {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  Extent& touched = parts_[0]->touched;
  touched.tuples = std::min(spec_.prefaulted_tuples, spec_.tuples_per_node);
  const std::uint64_t end = TupleOffset(touched.tuples);
  for (std::uint64_t at = first_tuple_; at < end; at += page) WordAt(memory() + at).store(0);
}

std::uint64_t Table::Find(Key key, Rank rank) const {
  const Part& part = *parts_[rank];
  return spec_.by_tree ? part.tree.Find(key) : ChainOf(part, key).Find(key);
}

bool Table::Link(Part& part, BucketChain chain, const BucketChain::Spot& spot, Key key,
                 std::uint64_t tuple) const {
  const auto new_bucket = [&]() -> std::uint64_t {
    if (part.overflow_used == overflow_) return 0;
    return (most_buckets_ + part.overflow_used++) * sizeof(Bucket);
  };
  // Whoever leaves a time for the absent key, and then finds the count of changes as before, has
  // left it before this.
  const auto take_times = [&] {
    if (!timed()) return;
    std::uint64_t times[2];
    const auto own = reinterpret_cast<std::byte*>(times);
    LoadWords(own, part.memory.data() + AbsenceAt(key), sizeof times);
    StoreWords(part.memory.data() + tuple + time_at(TimeWord::kClaimed), own, sizeof times);
  };
  const auto add_to_tree = [&] {
    if (spec_.by_tree) part.tree.Insert(key, tuple);
  };
  return chain.Link(spot, key, tuple, take_times, new_bucket, add_to_tree);
}

std::uint64_t Table::FindOrInsert(Key key, Rank rank, TupleKind what) {
  if (const std::uint64_t found = Find(key, rank)) return found;
  Part& part = *parts_[rank];
  const auto lock = LockBriefly(part.insert_mutex);
  const BucketChain chain = ChainOf(part, key);
  const BucketChain::Spot spot = chain.FindSpot(key);
  if (spot.tuple != 0) return spot.tuple;
  const std::uint64_t more = what == TupleKind::kPlaceholder ? PlaceholderRoom(room()) : 0;
  if (part.tuples >= room() + more) return 0;
  const std::uint64_t tuple = TupleOffset(part.tuples);
  const MutableTupleView view(*this, part.memory.data() + tuple);
  view.StoreMetadata(part.fresh);
  view.StoreKey(key);
  for (std::size_t version = 0; part.fresh_word != 0 && version < shape_.versions; ++version) {
    WordAt(view.version(version)).store(part.fresh_word, std::memory_order_release);
  }
  if (!Link(part, chain, spot, key, tuple)) return 0;
  part.tuples.store(part.tuples.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return tuple;
}

bool Table::TakesAll(std::span<const Key> keys) const {
  if (keys.size() > room()) return false;
  std::unordered_map<std::uint64_t, std::uint64_t> in_bucket;
  for (const Key key : keys) ++in_bucket[BucketOf(key)];
  std::uint64_t overflow = 0;
  for (const auto& [bucket, count] : in_bucket) overflow += (count - 1) / Bucket::kSlots;
  return overflow <= overflow_;
}

void Table::Clear() {
  for (const auto& part : parts_) {
    fabric_.Clear(part->region);
    part->overflow_used = 0;
    part->tuples = 0;
    part->touched = {};
    part->tree.Clear();
    std::copy_n(shape_.fresh, kMaxMetadataWords, part->fresh);
    part->fresh_word = 0;
  }
}

Table::Extent Table::Touched(const Part& part) const {
  return {std::max(part.touched.buckets, buckets_),
          std::max(part.touched.overflow, part.overflow_used),
          std::max(part.touched.tuples, part.tuples.load())};
}

std::uint64_t Table::Sweep(Rank rank, const std::function<bool(const std::byte*)>& keep,
                           const std::uint64_t* fresh, std::uint64_t fresh_word) {
  Part& part = *parts_[rank];
  std::byte* const memory = part.memory.data();
  std::copy_n(fresh, kMaxMetadataWords, part.fresh);
  part.fresh_word = fresh_word;
  const std::uint64_t before = part.tuples;
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i < before; ++i) kept += keep(memory + TupleOffset(i)) ? 1 : 0;
  part.touched = Touched(part);
  const std::uint64_t overflow_used = std::exchange(part.overflow_used, 0);
  part.tuples = kept;
  part.tree.Clear();
  const auto place = [&](std::uint64_t index, const std::byte* tuple) {
    std::byte* const to = memory + TupleOffset(index);
    if (to != tuple) std::memmove(to, tuple, stride_);
    const Key key = TupleView(*this, to).key();
    const BucketChain chain = ChainOf(part, key);
    SLIM_CHECK(Link(part, chain, chain.FindSpot(key), key, TupleOffset(index)),
               "a swept table has no room for its keys");
  };
  std::uint64_t placed = 0;
  if (kept < before / 2 || before < buckets_ / kBucketsPerPage) {
    // Few tuples stay, or there were so few that they never touched all pages of buckets. Move them
    // to a temporary buffer and return all pages to the system.
    std::vector<std::byte> aside(kept * stride_);
    for (std::uint64_t i = 0; i < before; ++i) {
      const std::byte* const tuple = memory + TupleOffset(i);
      if (keep(tuple)) std::copy_n(tuple, stride_, aside.data() + placed++ * stride_);
    }
    fabric_.Clear(part.region);
    part.touched = {};
    for (placed = 0; placed < kept; ++placed) place(placed, aside.data() + placed * stride_);
    return before - kept;
  }
  std::fill_n(memory, part.touched.buckets * sizeof(Bucket), std::byte{0});
  std::fill_n(memory + most_buckets_ * sizeof(Bucket), overflow_used * sizeof(Bucket),
              std::byte{0});
  for (std::uint64_t i = 0; i < before; ++i) {
    const std::byte* const tuple = memory + TupleOffset(i);
    if (keep(tuple)) place(placed++, tuple);
  }
  std::fill(memory + TupleOffset(kept), memory + TupleOffset(before), std::byte{0});
  return before - kept;
}

std::uint64_t Table::resident_bytes() const {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t pages = 0;
  for (const auto& part : parts_) {
    const Extent touched = Touched(*part);
    const std::uint64_t overflow_at = most_buckets_ * sizeof(Bucket);
    std::uint64_t next = 0;  // the first page that is not counted yet
    for (const auto& [begin, bytes] :
         {std::pair{std::uint64_t{0}, touched.buckets * sizeof(Bucket)},
          {overflow_at, touched.overflow * sizeof(Bucket)},
          {first_tuple_, touched.tuples * stride_}}) {
      const std::uint64_t first = std::max(next, begin / page * page);
      next = std::max(next, RoundUp(begin + bytes, page));
      std::vector<unsigned char> resident((next - first) / page);
      if (::mincore(part->memory.data() + first, next - first, resident.data()) != 0) continue;
      for (const unsigned char one : resident) pages += one & 1;
    }
  }
  return pages * page;
}

bool Table::Load(Key key, Bytes record, Rank rank, std::uint64_t word) {
  const std::uint64_t tuple = FindOrInsert(key, rank);
  if (tuple == 0) return false;
  std::byte* const version = MutableTupleView(*this, memory(rank) + tuple).version(0);
  WordAt(version).store(word);
  std::memcpy(version + kWordBytes, record.data(), record.size());
  return true;
}

}  // namespace slimgraph::txn
