#include "tests/txnlayer/pairs_workload.h"

#include <functional>
#include <span>
#include <vector>

namespace slimgraph::test {
namespace {

using txn::Access;
using txn::Attempt;
using txn::Key;

constexpr Key kApart = 1 << 20;

class PairsClient : public txn::Client {
 public:
  PairsClient(txn::OrderedTable& table, const txn::Protocol& protocol, std::uint64_t pairs,
              std::uint64_t seed)
      : table_(table),
        pairs_(pairs),
        steps_(protocol, txn::StepwiseFetch::Unnamed::kAbort),
        random_(seed) {}

  void Choose() override {
    steps_.Forget();
    pair_ = txn::Below(random_, pairs_);
    what_ = txn::Below(random_, 4);
  }

  Attempt Try(txn::Transaction& transaction) override {
    steps_.Begin();
    const bool scans = what_ > 1;
    if (!(scans ? Scan(transaction) : Write(transaction)) || !transaction.Commit()) {
      return Attempt::kAborted;
    }
    if (!scans) return Attempt::kCommitted;
    scans_ += found_[0].empty() ? 0 : 1;
    torn_ += found_[0] == found_[1] ? 0 : 1;
    return Attempt::kCommitted;
  }

  std::uint64_t scans() const { return scans_; }
  std::uint64_t torn() const { return torn_; }

 private:
  bool Write(txn::Transaction& transaction) {
    for (const Key key : {pair_, kApart + pair_}) {
      if (what_ == 0) {
        if (!table_.Erase(transaction, steps_, key)) return false;
        continue;
      }
      Access* row = nullptr;
      if (!table_.Insert(transaction, steps_, key, &row)) return false;
      row->Put(key);
    }
    return true;
  }

  // Both from the same pair on.
  bool Scan(txn::Transaction& transaction) {
    for (const std::size_t half : {0, 1}) {
      const Key apart = half * kApart;
      std::vector<Access*> rows;
      if (!table_.Scan(transaction, steps_, apart + pair_, apart + pairs_, pairs_, rows)) {
        return false;
      }
      found_[half].clear();
      for (const Access* const row : rows) found_[half].push_back(row->key - apart);
    }
    return true;
  }

  txn::OrderedTable& table_;
  const std::uint64_t pairs_;
  txn::StepwiseFetch steps_;
  txn::Random random_;
  Key pair_ = 0;
  std::uint64_t what_ = 0;  // 0: erase the pair, 1: insert it, else: scan
  std::vector<Key> found_[2];
  std::uint64_t scans_ = 0;
  std::uint64_t torn_ = 0;
};

}  // namespace

Status PairsWorkload::Load(txn::Engine& engine) {
  SLIM_ASSIGN(table_, txn::OrderedTable::Make(engine, {"pairs", 8, pairs_}));
  std::vector<Key> keys;
  for (const Key half : {Key{0}, kApart}) {
    for (Key pair = 0; engine.self() == 0 && pair < pairs_; pair += 2) keys.push_back(half + pair);
  }
  return table_->Load(std::move(keys), [](Key, std::byte*) {});
}

std::unique_ptr<txn::Client> PairsWorkload::MakeClient(txn::Transaction& transaction) {
  return std::make_unique<PairsClient>(*table_, transaction.engine().protocol(), pairs_,
                                       seed_ * 1'000'003 + transaction.process());
}

void PairsWorkload::Collect(txn::Client& client) {
  scans_ += static_cast<PairsClient&>(client).scans();
  torn_ += static_cast<PairsClient&>(client).torn();
}

Status PairsWorkload::Verify(txn::Engine& engine) {
  SLIM_TRY(table_->Check());
  std::uint64_t sums[2] = {scans_, torn_};
  SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
  scans_ = sums[0];
  if (sums[1] == 0) return {};
  return VerificationError("{} of {} transactions saw half of a pair", sums[1], sums[0]);
}

}  // namespace slimgraph::test
