// Decides which transactions may access the rows of some partitions. One server agent owns a lock
// manager and calls it from one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "txnlayer/locks/lock_mode.h"

namespace slimgraph::txn {

// Of two transactions, the older one has the smaller number. 0 is none.
using TransactionNumber = std::uint64_t;
using LockId = std::uint64_t;

struct LockRequest {
  TransactionNumber transaction = 0;
  LockId lock = 0;
  LockMode mode = LockMode::kFree;
};

enum class LockAnswer : std::uint8_t {
  kGranted,
  kRefused,  // the transaction has to abort
  kLater,    // another call will bring the answer
};

// The answer to a request that had to wait.
struct LateAnswer {
  TransactionNumber transaction = 0;
  LockId lock = 0;
  LockAnswer answer = LockAnswer::kGranted;
};

class LockManager {
 public:
  virtual ~LockManager() = default;
  // A transaction has one request at a time here.
  virtual LockAnswer Request(const LockRequest& request, std::uint64_t now_ns) = 0;
  // The transaction has ended: releases all that it holds, and discards its request. Appends the
  // answers to requests that need not wait any more.
  virtual void End(TransactionNumber transaction, bool commits, std::uint64_t now_ns,
                   std::vector<LateAnswer>& answers) = 0;
  // Refuses the requests that have waited too long. Appends answers like End().
  virtual void Expire(std::uint64_t now_ns, std::vector<LateAnswer>& answers) = 0;
  // When Expire() may next have something to do; nothing: not before another request.
  virtual std::optional<std::uint64_t> next_expiry_ns() = 0;
  // Whether no transaction holds anything or waits for it.
  virtual bool idle() const = 0;
};

}  // namespace slimgraph::txn
