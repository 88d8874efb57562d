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

void LedgerWriter::Write(const Record& record, std::uint64_t generation, Outgoing& outgoing,
                         Pending& pending) {
  const LedgerRing& shape = ledger_->shape();
  const LedgerRing::Slot slot = shape.SlotFor(written_, record.size());
  shape.MakeSkip(written_, slot, outgoing.skip);
  shape.MakeFrame(slot, durable_, generation, record, outgoing.frame);
  const auto write = [&](std::uint64_t position, std::span<const std::uint64_t> words) {
    if (words.empty()) return;
    worker_.endpoint().Write(place_.keeper, ledger_->region(), place_.at + shape.OffsetOf(position),
                             std::as_bytes(words), worker_.Tag(pending));
  };
  write(written_, outgoing.skip);
  write(slot.position, outgoing.frame);
  written_ = outgoing.end = slot.end;
  open_.push_back({slot.end, false});
}

void LedgerWriter::ReadBack(Outgoing& outgoing, Pending& pending) {
  worker_.endpoint().Read(
      place_.keeper, ledger_->region(), place_.at + ledger_->shape().OffsetOf(outgoing.end - 1),
      std::as_writable_bytes(std::span(&outgoing.read_back, 1)), worker_.Tag(pending));
}

void LedgerWriter::AskSync(Outgoing& outgoing, Pending& pending) {
  std::vector<std::byte> request;
  Append(request, CallHeader{.what = kLedgerSyncRequest});
  outgoing.call.request = std::move(request);
  outgoing.call.to = keeper();
  worker_.Send(outgoing.call, &pending);
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
