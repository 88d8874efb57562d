#include "txnlayer/ordered/ordered_table.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/mix.h"
#include "slimgraph/cluster/gather.h"
#include "txnlayer/ordered/internal/first_leaves.h"

namespace slimgraph::txn {
namespace {

constexpr double kMostAhead = 1 << 16;  // leaves that a scan fetches at once

}  // namespace

// Spreads neighbouring leaves over all nodes, or over the buckets of a node. A bijection, as no two
// leaves may have the same name.
Key OrderedTable::NameOf(Key low) const {
  const unsigned shift = leaves_.spec().home_shift;
  if (shift == 0) return Mix64(low);
  const Key mask = (Key{1} << shift) - 1;
  Key mixed = low & mask;
  for (int round = 0; round < 2; ++round) {
    mixed ^= mixed >> (shift / 2);
    mixed = (mixed * kMixStep) & mask;
  }
  return (low & ~mask) | mixed;
}

Result<std::unique_ptr<OrderedTable>> OrderedTable::Make(Engine& engine, const OrderedSpec& spec) {
  // A hash spreads rows and leaves over the nodes, so some nodes have a few more than others.
  const auto uneven = [](std::uint64_t mean) { return mean + mean / 8 + 64; };
  Table* rows = nullptr;
  if (spec.record_bytes > 0) {
    SLIM_ASSIGN(rows, engine.tables().Add({.name = spec.name,
                                           .record_bytes = spec.record_bytes,
                                           .tuples_per_node = uneven(spec.keys_per_node),
                                           .most_tuples = kAsManyAsFit,
                                           .home_shift = spec.home_shift,
                                           .derived = spec.derived,
                                           .by_tree = spec.by_tree}));
  }
  SLIM_ASSIGN(Table* const leaves,
              engine.tables().Add({.name = "leaves of " + spec.name,
                                   .record_bytes = sizeof(Leaf),
                                   .tuples_per_node = uneven(spec.keys_per_node / kLoadedKeys),
                                   .most_tuples = kAsManyAsFit,
                                   .home_shift = spec.home_shift,
                                   .derived = spec.derived}));
  return std::unique_ptr<OrderedTable>(new OrderedTable(engine, rows, *leaves));
}

Status OrderedTable::Load(std::vector<Key> keys, const Fill& fill) {
  engine_.ForgetTuples();
  for (Table* const table : {rows_, &leaves_}) {
    if (table != nullptr && table->tuples() > 0) table->Clear();
  }
  if (rows_ != nullptr) SLIM_TRY(LoadRows(keys, fill));
  Collectives& all = engine_.cluster().all();
  SLIM_ASSIGN(keys, SortAcross(all, std::move(keys)));
  SLIM_ASSIGN(const std::vector<Leaf> leaves, LeavesAcross(all, keys));
  SLIM_TRY(LoadLeaves(leaves));
  return Learn();
}

Status OrderedTable::LoadRecord(Table& table, Key key, Bytes record) {
  if (table.Load(key, record)) return {};
  if (engine_.tables().MakeRoom(table, 2 * table.room()) && table.Load(key, record)) return {};
  return InputError("the table of {} is full", table.spec().name);
}

Status OrderedTable::LoadRows(std::span<const Key> keys, const Fill& fill) {
  std::vector<std::vector<Key>> to_node(engine_.cluster().topology().nodes());
  for (const Key key : keys) to_node[rows_->Home(key)].push_back(key);
  SLIM_ASSIGN(const auto mine, SendToEach(engine_.cluster().all(), std::move(to_node)));
  std::vector<std::byte> record(rows_->spec().record_bytes);
  for (const Key key : mine) {
    std::fill(record.begin(), record.end(), std::byte{0});
    fill(key, record.data());
    SLIM_TRY(LoadRecord(*rows_, key, record));
  }
  return {};
}

Status OrderedTable::LoadLeaves(std::span<const Leaf> leaves) {
  std::vector<std::vector<Leaf>> to_node(engine_.cluster().topology().nodes());
  for (const Leaf& leaf : leaves) to_node[leaves_.Home(NameOf(leaf.low))].push_back(leaf);
  SLIM_ASSIGN(const auto mine, SendToEach(engine_.cluster().all(), std::move(to_node)));
  for (const Leaf& leaf : mine) {
    SLIM_TRY(LoadRecord(leaves_, NameOf(leaf.low), std::as_bytes(std::span(&leaf, 1))));
  }
  return {};
}

Status OrderedTable::Learn() {
  std::vector<Key> mine;
  std::uint64_t keys = 0;
  engine_.tables().ForEachRecord(leaves_, [&](Key, const std::byte* record) {
    if (record == nullptr) return;
    Leaf leaf;
    std::memcpy(&leaf, record, sizeof leaf);
    mine.push_back(leaf.low);
    keys += leaf.count;
  });
  SLIM_ASSIGN(std::vector<Key> lows, GatherList<Key>(engine_.cluster().all(), mine));
  SLIM_ASSIGN(keys, engine_.cluster().all().AllSum(keys));
  std::sort(lows.begin(), lows.end());
  if (lows.empty() || lows.front() != 0) {
    return VerificationError("the {} have no first leaf", leaves_.spec().name);
  }
  keys_per_leaf_ = std::max(1.0, static_cast<double>(keys) / static_cast<double>(lows.size()));
  directory_.Learn(std::move(lows));
  return {};
}

// Each leaf but the first is the next of exactly one leaf, which is less. So they form one chain,
// which begins with the first and covers all keys. Sums of mixed keys compare sets of keys.
Result<KeyDigest> OrderedTable::Check() {
  enum Sum : std::size_t { kLows, kHighs, kKeys, kCount, kRows, kRowCount, kLeaves, kLasts, kBad };
  std::uint64_t sums[kBad + 1] = {};
  KeyDigest in_leaves;
  KeyDigest in_rows;
  engine_.tables().ForEachRecord(leaves_, [&](Key name, const std::byte* record) {
    if (record == nullptr) return;
    Leaf leaf;
    std::memcpy(&leaf, record, sizeof leaf);
    bool good = NameOf(leaf.low) == name && leaf.count <= Leaf::kSlots &&
                (leaf.last() || leaf.low < leaf.high);
    for (std::uint64_t i = 0; good && i < leaf.count; ++i) {
      good = leaf.Covers(leaf.keys[i]) && (i == 0 || leaf.keys[i - 1] < leaf.keys[i]);
      in_leaves.Add(leaf.keys[i]);
    }
    ++sums[kLeaves];
    sums[kLows] += leaf.low == 0 ? 0 : Mix64(leaf.low);
    sums[kHighs] += leaf.last() ? 0 : Mix64(leaf.high);
    sums[kLasts] += leaf.last() ? 1 : 0;
    sums[kBad] += good ? 0 : 1;
  });
  if (rows_ != nullptr) {
    engine_.tables().ForEachRecord(*rows_, [&](Key key, const std::byte* record) {
      if (record != nullptr) in_rows.Add(key);
    });
  }
  sums[kKeys] = in_leaves.sum;
  sums[kCount] = in_leaves.keys;
  sums[kRows] = in_rows.sum;
  sums[kRowCount] = in_rows.keys;
  SLIM_TRY(engine_.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  const std::string& name = leaves_.spec().name;
  if (sums[kBad] != 0) {
    return VerificationError("{} of the {} {} have keys out of order", sums[kBad], sums[kLeaves],
                             name);
  }
  if (sums[kLows] != sums[kHighs] || sums[kLasts] != 1) {
    return VerificationError("the {} {} are no chain", sums[kLeaves], name);
  }
  if (rows_ != nullptr && (sums[kCount] != sums[kRowCount] || sums[kKeys] != sums[kRows])) {
    return VerificationError("the {} have {} keys, which are not those of the {} rows", name,
                             sums[kCount], sums[kRowCount]);
  }
  return KeyDigest{sums[kCount], sums[kKeys]};
}

Access* OrderedTable::LeafOf(Transaction& transaction, StepwiseFetch& steps, Key key, bool write,
                             Access** row) {
  searches_.fetch_add(1, std::memory_order_relaxed);
  Key low = directory_.Find(key);
  Key missing = 0;
  for (bool first = true;; first = false) {
    if (!first) detours_.fetch_add(1, std::memory_order_relaxed);
    const Want wants[] = {WantLeaf(low, write), {rows_, key, true}};
    Access* found[2];
    const std::size_t wanted = first && row != nullptr && rows_ != nullptr ? 2 : 1;
    if (!steps.Fetch(transaction, {wants, wanted}, found)) return nullptr;
    if (wanted == 2) *row = found[1];
    if (found[0]->exists()) {
      const auto leaf = found[0]->Get<Leaf>();
      if (leaf.Covers(key)) return found[0];
      low = leaf.high;
      directory_.Add(low);
    } else {
      missing = low;
      directory_.Remove(low);
      if (low != 0) low = directory_.Find(low - 1);
    }
    // A transaction that will be aborted may see two different states.
    if (low == missing) {
      transaction.Abort(AbortReason::kChanged);
      return nullptr;
    }
  }
}

Access* OrderedTable::Read(Transaction& transaction, StepwiseFetch& steps, Key key, bool write) {
  const Want want{rows_, key, write};
  Access* found = nullptr;
  return steps.Fetch(transaction, {&want, 1}, &found) ? found : nullptr;
}

bool OrderedTable::ReadByLeaf(Transaction& transaction, StepwiseFetch& steps, Key key, bool write,
                              Access** record) {
  *record = nullptr;
  const Access* const leaf = LeafOf(transaction, steps, key, false);
  if (leaf == nullptr) return false;
  if (!leaf->Get<Leaf>().Has(key)) return true;
  *record = Read(transaction, steps, key, write);
  return *record != nullptr;
}

bool OrderedTable::Insert(Transaction& transaction, StepwiseFetch& steps, Key key, Access** row) {
  Access* const access = LeafOf(transaction, steps, key, true, row);
  if (access == nullptr) return false;
  auto leaf = access->Get<Leaf>();
  if (leaf.Has(key)) return true;
  if (!leaf.full()) {
    leaf.Add(key);
    access->Put(leaf);
    return true;
  }
  Leaf next = leaf.SplitFor(key);
  const Want want = WantLeaf(next.low, true);
  Access* fresh = nullptr;
  if (!steps.Fetch(transaction, {&want, 1}, &fresh)) return false;
  (key < next.low ? leaf : next).Add(key);
  access->Put(leaf);
  fresh->Put(next);
  return true;
}

bool OrderedTable::Erase(Transaction& transaction, StepwiseFetch& steps, Key key) {
  Access* row = nullptr;
  Access* const access = LeafOf(transaction, steps, key, true, &row);
  if (access == nullptr) return false;
  auto leaf = access->Get<Leaf>();
  if (!leaf.Has(key)) return true;
  leaf.Remove(key);
  access->Put(leaf);
  if (row != nullptr) Transaction::Delete(*row);
  return leaf.count > 0 || leaf.low == 0 || JoinWithTheOneBefore(transaction, steps, *access);
}

bool OrderedTable::JoinWithTheOneBefore(Transaction& transaction, StepwiseFetch& steps,
                                        Access& access) {
  const auto leaf = access.Get<Leaf>();
  Access* const before = LeafOf(transaction, steps, leaf.low - 1, true);
  if (before == nullptr) return false;
  auto joined = before->Get<Leaf>();
  // A transaction that will be aborted may see two different states.
  if (joined.high != leaf.low) {
    transaction.Abort(AbortReason::kChanged);
    return false;
  }
  joined.high = leaf.high;
  before->Put(joined);
  Transaction::Delete(access);
  return true;
}

bool OrderedTable::Keys(Transaction& transaction, StepwiseFetch& steps, Key first, Key last,
                        std::size_t most, std::vector<Key>& keys) {
  keys.clear();
  if (most == 0 || first > last) return true;
  // All leaves that it will probably need, at once. The search for them then finds them here.
  std::vector<Key> lows = {directory_.Find(first)};
  const auto further = std::min(kMostAhead, static_cast<double>(most) / keys_per_leaf_ + 1);
  directory_.Following(lows[0], last, most == 1 ? 0 : static_cast<std::size_t>(further), lows);
  std::vector<Want> wants;
  for (const Key low : lows) wants.push_back(WantLeaf(low, false));
  std::vector<Access*> found(wants.size());
  if (!steps.Fetch(transaction, wants, found.data())) return false;
  for (Key next = first;;) {
    const Access* const access = LeafOf(transaction, steps, next, false);
    if (access == nullptr) return false;
    const auto leaf = access->Get<Leaf>();
    for (std::uint64_t slot = leaf.SlotOf(first); slot < leaf.count; ++slot) {
      if (leaf.keys[slot] > last) return true;
      keys.push_back(leaf.keys[slot]);
      if (keys.size() == most) return true;
    }
    if (leaf.last() || leaf.high > last) return true;
    next = leaf.high;
  }
}

bool OrderedTable::Scan(Transaction& transaction, StepwiseFetch& steps, Key first, Key last,
                        std::size_t most, std::vector<Access*>& records) {
  records.clear();
  std::vector<Key> keys;
  if (!Keys(transaction, steps, first, last, most, keys)) return false;
  std::vector<Want> wants;
  for (const Key key : keys) wants.push_back({rows_, key, false});
  records.resize(wants.size());
  if (!steps.Fetch(transaction, wants, records.data())) return false;
  for (const Access* const record : records) {
    if (record->exists()) continue;
    transaction.Abort(AbortReason::kChanged);
    return false;
  }
  return true;
}

}  // namespace slimgraph::txn
