#include "txnlayer/internal/durability/ledger_writer.h"

#include <algorithm>
#include <utility>

#include "txnlayer/internal/execution/message_bytes.h"

namespace slimgraph::txn {

void LedgerWriter::Use(const Ledger& ledger) {
  ledger_ = &ledger;
  place_ = ledger.PlaceOf(worker_.index());
}

bool LedgerWriter::HasRoom(std::uint64_t record_words) {
  const LedgerRing& shape = ledger_->shape();
  if (drain_pending_.left == 0) {
    drained_ = asked_;
    if (written_ - drained_ > shape.words() / 2 && durable_ > drained_) {
      asked_ = durable_;
      const DrainUpTo body{asked_, place_.ring};
      std::vector<std::byte> request;
      Append(request, CallHeader{.what = kLedgerDrainRequest});
      Append(request, body);
      drain_.request = std::move(request);
      drain_.to = keeper();
      worker_.Send(drain_, &drain_pending_);
    }
  }
  return shape.HasRoom(written_, drained_, record_words);
}

void LedgerWriter::Write(const Record& record, std::uint64_t generation, Batched batched,
                         Outgoing& outgoing, Pending& pending) {
  const LedgerRing& shape = ledger_->shape();
  const LedgerRing::Slot slot = shape.SlotFor(written_, record.size());
  shape.MakeSkip(written_, slot, outgoing.skip);
  shape.MakeFrame(slot, durable_, generation, record, outgoing.frame);
  const auto place_of = [&](std::uint64_t position) {
    return place_.at + shape.OffsetOf(position);
  };
  Endpoint& endpoint = worker_.endpoint();
  if (!outgoing.skip.empty()) {
    endpoint.Write(place_.keeper, ledger_->region(), place_of(written_),
                   std::as_bytes(std::span(outgoing.skip)), worker_.Tag(pending));
  }
  endpoint.PersistentWrite(place_.keeper, ledger_->region(), place_of(slot.position),
                           std::as_bytes(std::span(outgoing.frame)), worker_.Tag(pending), batched);
  written_ = outgoing.end = slot.end;
  open_.push_back({slot.end, false});
}

void LedgerWriter::NoteDurable(const Outgoing& outgoing) {
  const auto one = std::find_if(open_.begin(), open_.end(),
                                [&](const Open& open) { return open.end == outgoing.end; });
  one->durable = true;
  for (; !open_.empty() && open_.front().durable; open_.pop_front()) {
    durable_ = open_.front().end;
  }
}

}  // namespace slimgraph::txn
