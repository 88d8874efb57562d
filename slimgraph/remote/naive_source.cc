#include "slimgraph/remote/naive_source.h"

#include <cstddef>
#include <span>

#include "slimgraph/base/check.h"

namespace slimgraph {

void NaiveSource::StartFetch(ListBatch& batch) {
  SLIM_CHECK(batch.items.size() == 1);
  const DelegatedLists::Part& part = batch.lists->part();
  const std::uint64_t list = part.begin.list + batch.items[0].v;
  const std::uint64_t at = list / OffsetGroup::kLists * sizeof(OffsetGroup) +
                           offsetof(OffsetGroup, lengths) +
                           list % OffsetGroup::kLists * sizeof(length_);
  asking_ = true;
  endpoint_.Read(part.node, part.regions.offsets, at,
                 std::as_writable_bytes(std::span(&length_, 1)), batch.number, Signal::kYes);
  endpoint_.Ring();
}

Status NaiveSource::HandleCompletion(ListBatch& batch, Outcome outcome) {
  if (!asking_ || outcome != Outcome::kOk) return OneSidedSource::HandleCompletion(batch, outcome);
  asking_ = false;
  batch.items[0].fetch = length_ > 0;
  OneSidedSource::StartFetch(batch);
  return {};
}

}  // namespace slimgraph
