#include "txnlayer/store/table.h"

#include <sys/mman.h>
#include <unistd.h>

#include "slimgraph/base/check.h"
#include "slimgraph/base/words.h"

namespace slimgraph::txn {
namespace {

std::uint64_t RoundUp(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

SharedWord Word(std::uint64_t& word) { return SharedWord(word); }

}  // namespace

Table::Table(Fabric& fabric, TableId id, TableSpec spec, const TupleShape& shape)
    : fabric_(fabric), nodes_(fabric.nodes()), id_(id), spec_(std::move(spec)), shape_(shape) {
  version_bytes_ = kWordBytes + RoundUp(spec_.record_bytes, kWordBytes);
  const std::uint64_t most = spec_.tuples_per_node;
  const std::uint64_t usual = spec_.usual_tuples == 0 ? most : std::min(most, spec_.usual_tuples);
  buckets_ = usual / kMeanTuples + 1;
  overflow_ = buckets_ / 4 + (most - usual) / kMeanTuples + 16;
  first_tuple_ = (buckets_ + overflow_) * sizeof(Bucket);
  stride_ = RoundUp(key_at() + image_bytes(), kCacheLineBytes);
}

Result<std::unique_ptr<Table>> Table::Make(Fabric& fabric, TableId id, const TableSpec& spec,
                                           const TupleShape& shape, std::uint32_t replicas) {
  if (spec.record_bytes > kMaxRecordBytes) {
    return UsageError("a record of table {} has {} bytes; at most {} are possible", spec.name,
                      spec.record_bytes, kMaxRecordBytes);
  }
  std::unique_ptr<Table> table(new Table(fabric, id, spec, shape));
  const std::uint64_t bytes = table->first_tuple_ + spec.tuples_per_node * table->stride_;
  for (std::uint32_t i = 0; i < replicas; ++i) {
    SLIM_ASSIGN(const SharedRegion region, fabric.Share(bytes));
    table->parts_.push_back(std::make_unique<Part>());
    table->parts_.back()->region = region.id;
    table->parts_.back()->memory = region.memory;
    std::copy_n(shape.fresh, kMaxMetadataWords, table->parts_.back()->fresh);
  }
  return table;
}

std::uint64_t Table::Find(Key key, Rank rank) const {
  const Part& part = *parts_[rank];
  for (std::uint64_t at = BucketOf(key);;) {
    Bucket& bucket = *part.BucketAt(at);
    for (Bucket::Slot& slot : bucket.slots) {
      const std::uint64_t tuple = Word(slot.tuple).load(std::memory_order_acquire);
      if (tuple == 0) return 0;  // slots fill in order
      if (Word(slot.key).load(std::memory_order_relaxed) == key) return tuple;
    }
    at = Word(bucket.next).load(std::memory_order_acquire);
    if (at == 0) return 0;
  }
}

// Puts the key into its bucket, or one behind it. What a slot names is complete before the slot is,
// and a bucket before it is linked.
bool Table::Link(Part& part, Key key, std::uint64_t tuple) {
  Bucket* const bucket = part.BucketAt(BucketOf(key));
  const std::uint64_t before = bucket->changes;
  Word(bucket->changes).store(before + 1);
  const bool linked = LinkBehind(part, bucket, key, tuple);
  Word(bucket->changes).store(before + 2);
  return linked;
}

bool Table::LinkBehind(Part& part, Bucket* bucket, Key key, std::uint64_t tuple) {
  while (bucket->next != 0) bucket = part.BucketAt(bucket->next);
  std::size_t slot = 0;
  while (slot < Bucket::kSlots && bucket->slots[slot].tuple != 0) ++slot;
  if (slot < Bucket::kSlots) {
    Word(bucket->slots[slot].key).store(key);
    Word(bucket->slots[slot].tuple).store(tuple);
    return true;
  }
  if (part.overflow_used == overflow_) return false;
  const std::uint64_t next = (buckets_ + part.overflow_used++) * sizeof(Bucket);
  Bucket* const fresh = part.BucketAt(next);
  Word(fresh->slots[0].key).store(key);
  Word(fresh->slots[0].tuple).store(tuple);
  Word(bucket->next).store(next);
  return true;
}

std::uint64_t Table::FindOrPlace(Key key, Rank rank) {
  if (const std::uint64_t found = Find(key, rank)) return found;
  Part& part = *parts_[rank];
  const std::lock_guard lock(part.placing);
  if (const std::uint64_t found = Find(key, rank)) return found;
  if (part.tuples == spec_.tuples_per_node) return 0;
  const std::uint64_t tuple = TupleOffset(part.tuples);
  std::byte* const place = part.memory.data() + tuple;
  StoreWords(place, reinterpret_cast<const std::byte*>(part.fresh),
             shape_.metadata_words * kWordBytes);
  WordAt(place + key_at()).store(key);
  for (std::size_t version = 0; part.fresh_word != 0 && version < shape_.versions; ++version) {
    WordAt(place + version_at(version)).store(part.fresh_word);
  }
  if (!Link(part, key, tuple)) return 0;
  ++part.tuples;
  return tuple;
}

void Table::Clear() {
  for (const auto& part : parts_) {
    fabric_.Clear(part->region);
    part->overflow_used = 0;
    part->tuples = 0;
    std::copy_n(shape_.fresh, kMaxMetadataWords, part->fresh);
    part->fresh_word = 0;
  }
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
  part.overflow_used = 0;
  part.tuples = kept;
  const auto place = [&](std::uint64_t index, const std::byte* tuple) {
    std::byte* const to = memory + TupleOffset(index);
    if (to != tuple) std::memmove(to, tuple, stride_);
    Key key;
    std::memcpy(&key, to + key_at(), sizeof key);
    SLIM_CHECK(Link(part, key, TupleOffset(index)), "a swept table has no room for its keys");
  };
  std::uint64_t placed = 0;
  if (kept < before / 2) {
    // Few stay: they step aside, and all pages go back.
    std::vector<std::byte> aside(kept * stride_);
    for (std::uint64_t i = 0; i < before; ++i) {
      const std::byte* const tuple = memory + TupleOffset(i);
      if (keep(tuple)) std::copy_n(tuple, stride_, aside.data() + placed++ * stride_);
    }
    fabric_.Clear(part.region);
    for (placed = 0; placed < kept; ++placed) place(placed, aside.data() + placed * stride_);
    return before - kept;
  }
  std::fill_n(memory, first_tuple_, std::byte{0});
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
    std::vector<unsigned char> resident((part->memory.size() + page - 1) / page);
    if (::mincore(part->memory.data(), part->memory.size(), resident.data()) != 0) continue;
    for (const unsigned char one : resident) pages += one & 1;
  }
  return pages * page;
}

bool Table::Load(Key key, Bytes record, Rank rank, std::uint64_t word) {
  const std::uint64_t tuple = FindOrPlace(key, rank);
  if (tuple == 0) return false;
  std::byte* const version = memory(rank) + tuple + version_at(0);
  WordAt(version).store(word);
  std::memcpy(version + kWordBytes, record.data(), record.size());
  return true;
}

}  // namespace slimgraph::txn
