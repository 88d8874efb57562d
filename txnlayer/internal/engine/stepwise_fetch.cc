#include "txnlayer/stepwise_fetch.h"

namespace slimgraph::txn {
namespace {

constexpr std::size_t kMostUnused = 640;

}  // namespace

void StepwiseFetch::Forget() {
  named_.clear();
  looked_ = false;
}

// Names that an attempt has not used may be of use to the next one, unless they are many. More are
// kept if it was aborted at unnamed tuples, as it has not come to those behind them.
void StepwiseFetch::Begin() {
  if (named_.size() - used_ > (looked_ ? used_ : kMostUnused)) {
    std::erase_if(named_, [](const auto& one) { return !one.second.used; });
  }
  fetched_ = looked_ = false;
  used_ = 0;
  for (auto& [tuple, name] : named_) name = {.write = name.write};
}

bool StepwiseFetch::Fetch(Transaction& transaction, std::span<const Want> wants, Access** out) {
  if (!names_first_) return transaction.Fetch(wants, out);
  bool late = false;
  for (const Want& want : wants) {
    Name& name = named_[{want.table, want.key}];
    late |= fetched_ && (name.access == nullptr || (want.write && !name.write));
    name.write |= want.write;
    used_ += name.used ? 0 : 1;
    name.used = true;
  }
  if (late && !looked_) {
    if (unnamed_ == Unnamed::kAbort) {
      transaction.Abort(AbortReason::kUnnamed);
      return false;
    }
    transaction.Look();
    looked_ = true;
  }
  if (looked_) return transaction.Fetch(wants, out);
  if (!fetched_ && !FetchNamed(transaction)) return false;
  for (const Want& want : wants) *out++ = named_[{want.table, want.key}].access;
  return true;
}

bool StepwiseFetch::FetchNamed(Transaction& transaction) {
  fetched_ = true;
  wants_.clear();
  for (const auto& [tuple, name] : named_) {
    wants_.push_back({tuple.first, tuple.second, name.write});
  }
  accesses_.resize(wants_.size());
  if (!transaction.Fetch(wants_, accesses_.data())) return false;
  std::size_t i = 0;
  for (auto& [tuple, name] : named_) name.access = accesses_[i++];
  return true;
}

}  // namespace slimgraph::txn
