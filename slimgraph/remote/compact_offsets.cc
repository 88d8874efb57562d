#include "slimgraph/remote/compact_offsets.h"

namespace slimgraph {

void CompactOffsets::Reserve(VertexId count) {
  starts_.reserve(std::size_t{count} + 1);
  groups_.reserve(count / kGroup + 2);
}

void CompactOffsets::Append(EdgeOffset length) {
  AppendStart();
  end_ += length;
  end_byte_ += code_.Bytes(length);
}

void CompactOffsets::AppendStart() {
  const std::size_t in_group = starts_.size() % kGroup;
  if (in_group == 0) BeginGroup();
  Group& group = groups_.back();
  const EdgeOffset start = end_ - group.begin;
  if (start >= kNarrowEnd && group.wide == kNarrow) {
    group.wide = static_cast<std::uint32_t>(wide_.size());
    wide_.insert(wide_.end(), starts_.end() - static_cast<std::ptrdiff_t>(in_group), starts_.end());
  }
  if (group.wide != kNarrow) wide_.push_back(start);
  starts_.push_back(static_cast<std::uint16_t>(start));
}

void CompactOffsets::BeginGroup() { groups_.push_back({end_, end_byte_, kNarrow}); }

void CompactOffsets::Finish() {
  const bool begins_group = starts_.size() % kGroup == 0;
  AppendStart();
  if (!begins_group) BeginGroup();
  wide_.shrink_to_fit();
}

}  // namespace slimgraph
