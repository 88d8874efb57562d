#include "slimgraph/remote/compact_offsets.h"

#include <limits>

#include "slimgraph/base/check.h"

namespace slimgraph {

void CompactOffsets::Reserve(VertexId count) {
  codes_.reserve(count);
  begins_.reserve(count / kGroup + 2);
  first_bytes_.reserve(count / kGroup + 2);
  long_begins_.reserve(count / kGroup + 2);
}

void CompactOffsets::Append(EdgeOffset length) {
  SLIM_CHECK(length <= std::numeric_limits<std::uint32_t>::max(), "a list of {}", length);
  if (codes_.size() % kGroup == 0) BeginGroup();
  codes_.push_back(length < kLong ? static_cast<std::uint8_t>(length) : kLong);
  if (length >= kLong) longs_.push_back(static_cast<std::uint32_t>(length));
  end_ += length;
  end_byte_ += code_.Bytes(length);
}

void CompactOffsets::BeginGroup() {
  begins_.push_back(end_);
  first_bytes_.push_back(end_byte_);
  long_begins_.push_back(static_cast<std::uint32_t>(longs_.size()));
}

void CompactOffsets::Finish() {
  BeginGroup();
  longs_.shrink_to_fit();
}

}  // namespace slimgraph
