// A thread's side of a ledger (ledger.h): writes records into its ring, and asks the keeper to
// drain the ring when room runs short.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "txnlayer/internal/durability/ledger.h"
#include "txnlayer/internal/execution/worker.h"

namespace slimgraph::txn {

// A request to the keeper's thread that has the same number as the writer's.
constexpr std::uint16_t kLedgerDrainRequest = 19;
struct DrainUpTo {
  std::uint64_t position;
  std::uint64_t ring;
};

class LedgerWriter {
 public:
  explicit LedgerWriter(Worker& worker) : worker_(worker) {}
  void Use(const Ledger& ledger);

  std::uint64_t most_record_words() const { return ledger_->shape().most_record_words(); }
  // Asks the keeper to drain the ring when room runs short.
  bool HasRoom(std::uint64_t record_words);

  // What a record's operations refer to. It must stay in place until `pending` has completed.
  struct Outgoing {
    std::vector<std::uint64_t> frame;
    std::vector<std::uint64_t> skip;
    std::uint64_t end = 0;  // of the frame
  };
  // The record is durable when `pending` has completed.
  void Write(const Record& record, std::uint64_t generation, Batched batched, Outgoing& outgoing,
             Pending& pending);
  // The record is durable, so the keeper may drain it.
  void NoteDurable(const Outgoing& outgoing);

 private:
  EndpointAddress keeper() const { return {place_.keeper, worker_.endpoint().address().endpoint}; }

  Worker& worker_;
  const Ledger* ledger_ = nullptr;
  Ledger::Place place_;
  std::uint64_t written_ = 0;
  std::uint64_t durable_ = 0;  // all frames before
  std::uint64_t drained_ = 0;
  std::uint64_t asked_ = 0;  // up to where the ring is to be drained
  struct Open {
    std::uint64_t end;
    bool durable;
  };
  std::deque<Open> open_;
  Call drain_;
  Pending drain_pending_;
};

}  // namespace slimgraph::txn
