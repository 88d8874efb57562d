#include "txnlayer/replay/internal/order_check.h"

#include <algorithm>

namespace slimgraph::txn {
namespace {

tl::unexpected<Error> Disorder(TransactionNumber transaction, LockId row, const char* what,
                               TransactionNumber other) {
  return VerificationError("replay: transaction {} commits, but row {:x} {} transaction {}",
                           transaction, row, what, other);
}

}  // namespace

void OrderCheck::Access(TransactionNumber transaction, LockId row, bool write, std::uint32_t server,
                        std::vector<Seen>& seen) {
  Row& at = rows_[row];
  seen.push_back({row, at.writer, write, server});
  at.last_reader = std::max(at.last_reader, transaction);
}

Status OrderCheck::Commit(TransactionNumber transaction, const std::vector<Seen>& seen) {
  for (const Seen& one : seen) {
    if (by_timestamps_ && one.writer > transaction) {
      return Disorder(transaction, one.row, "was read as written by the later", one.writer);
    }
    if (by_timestamps_) continue;
    Row& at = rows_[one.row];
    if (one.writer != at.writer) {
      return Disorder(transaction, one.row, "was meanwhile written by", at.writer);
    }
    if (one.write) at.writer = transaction;
  }
  if (!by_timestamps_) return {};
  std::vector<Seen> writes;
  std::copy_if(seen.begin(), seen.end(), std::back_inserter(writes),
               [](const Seen& one) { return one.write; });
  if (!writes.empty()) to_install_.emplace(transaction, std::move(writes));
  return {};
}

Status OrderCheck::Install(TransactionNumber transaction, std::uint32_t server) {
  const auto found = to_install_.find(transaction);
  if (found == to_install_.end()) return {};
  for (const Seen& one : found->second) {
    if (one.server != server) continue;
    Row& at = rows_[one.row];
    if (at.last_reader > transaction) {
      return Disorder(transaction, one.row, "was already read by the later", at.last_reader);
    }
    at.writer = transaction;
  }
  std::erase_if(found->second, [server](const Seen& one) { return one.server == server; });
  if (found->second.empty()) to_install_.erase(found);
  return {};
}

}  // namespace slimgraph::txn
