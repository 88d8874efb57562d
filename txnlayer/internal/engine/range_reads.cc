#include "txnlayer/internal/engine/range_reads.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/internal/engine/rpc.h"
#include "txnlayer/internal/execution/message_bytes.h"

namespace slimgraph::txn {
namespace {

constexpr std::size_t kMostReplyBytes = kMaxMessageBytes - sizeof(CallHeader);

}  // namespace

void RangeReads::Add(RegionId region, std::uint64_t offset, MutableBytes into) {
  while (!into.empty()) {
    if (room_ == 0) {
      if (used_ == calls_.size()) calls_.emplace_back();
      calls_[used_].request.clear();
      Append(calls_[used_++].request, CallHeader{.what = kReadRequest});
      room_ = kMostReplyBytes;
    }
    Call& call = calls_[used_ - 1];
    const std::size_t bytes = std::min(room_, into.size());
    Append(call.request, Range{region, offset, bytes});
    pieces_.push_back({used_ - 1, into.first(bytes)});
    room_ -= bytes;
    offset += bytes;
    into = into.subspan(bytes);
  }
}

bool RangeReads::Run(Task& task, const EndpointAddress& server) {
  Pending pending;
  for (std::size_t i = 0; i < used_; ++i) {
    Call& call = calls_[i];
    call.to = server;
    const auto ranges =
        static_cast<std::uint16_t>((call.request.size() - sizeof(CallHeader)) / sizeof(Range));
    std::memcpy(call.request.data() + offsetof(CallHeader, items), &ranges, sizeof ranges);
    task.worker().Send(call, &pending);
  }
  task.Await(pending);
  const bool well = !pending.lost && !task.worker().failed();
  std::size_t of_call = 0;
  std::size_t at = sizeof(CallHeader);
  for (const Piece& piece : pieces_) {
    if (!well) break;
    if (piece.call != of_call) at = sizeof(CallHeader);
    of_call = piece.call;
    const std::vector<std::byte>& reply = calls_[piece.call].reply;
    SLIM_CHECK(at + piece.into.size() <= reply.size(), "a broken message between transactions");
    std::memcpy(piece.into.data(), reply.data() + at, piece.into.size());
    at += piece.into.size();
  }
  used_ = room_ = 0;
  pieces_.clear();
  return well;
}

void RangeReads::Serve(Fabric& fabric, std::uint16_t ranges, Bytes request,
                       std::vector<std::byte>& reply) {
  for (std::uint16_t i = 0; i < ranges; ++i) {
    const auto range = Take<Range>(request);
    const Bytes region = fabric.own_region(static_cast<RegionId>(range.region));
    SLIM_CHECK(range.offset <= region.size() && range.bytes <= region.size() - range.offset,
               "a read of bytes {}..+{} of a region of {}", range.offset, range.bytes,
               region.size());
    const auto from = region.begin() + static_cast<std::ptrdiff_t>(range.offset);
    reply.insert(reply.end(), from, from + static_cast<std::ptrdiff_t>(range.bytes));
  }
}

}  // namespace slimgraph::txn
