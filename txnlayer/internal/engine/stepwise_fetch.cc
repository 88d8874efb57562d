#include "txnlayer/stepwise_fetch.h"

namespace slimgraph::txn {
namespace {

// A transaction of so few steps commits sooner without looking.
constexpr std::uint32_t kMostGivenUp = 4;

}  // namespace

// What earlier attempts have named may be of no use any more.
void StepwiseFetch::DropUnusedIfTooMany() {
  if (named_.size() <= protocol_.most_accesses()) return;
  std::erase_if(named_, [](const auto& one) { return !one.second.used; });
}

void StepwiseFetch::Forget() {
  named_.clear();
  gave_up_ = 0;
}

void StepwiseFetch::Begin() {
  DropUnusedIfTooMany();  // by the last attempt
  fetched_ = false;
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
  const bool gives_up = late && !transaction.looks() && gave_up_ < kMostGivenUp;
  if (gives_up) ++gave_up_;
  if (gives_up || wants_too_many()) {
    transaction.Abort(wants_too_many() ? AbortReason::kTooLarge : AbortReason::kUnnamed);
    return false;
  }
  if (late && !transaction.looks()) transaction.Look();
  if (transaction.looks()) return transaction.Fetch(wants, out);
  if (!fetched_ && !FetchNamed(transaction)) return false;
  for (const Want& want : wants) *out++ = named_[{want.table, want.key}].access;
  return true;
}

bool StepwiseFetch::FetchNamed(Transaction& transaction) {
  fetched_ = true;
  DropUnusedIfTooMany();  // by this attempt, so far
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
