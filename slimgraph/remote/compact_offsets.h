// The index cache: where each list of a part begins and how long it is, in little more than a byte
// per vertex. A byte holds a list's length; every 64 vertices the sum of all before is kept, and
// lengths that a byte cannot hold stand apart.
#pragma once

#include <cstdint>
#include <vector>

#include "slimgraph/base/types.h"

namespace slimgraph {

class CompactOffsets {
 public:
  static constexpr VertexId kGroup = 64;

  struct Place {
    EdgeOffset begin;
    EdgeOffset length;
  };

  void Reserve(VertexId count);
  // The length of the next vertex's list.
  void Append(EdgeOffset length);
  // After the last; the object does not change any more.
  void Finish();

  VertexId count() const { return static_cast<VertexId>(codes_.size()); }
  VertexId groups() const { return (count() + kGroup - 1) / kGroup; }
  // Of group groups(), the end of all lists.
  EdgeOffset group_begin(VertexId group) const { return begins_[group]; }
  EdgeOffset length(VertexId v) const { return codes_[v] < kLong ? codes_[v] : Find(v).length; }

  Place Find(VertexId v) const {
    Place place{};
    VisitFrom(v / kGroup, v + 1, [&](VertexId, Place one) { place = one; });
    return place;
  }

  // visit(v, place) for the vertices first .. end-1 of one group.
  template <typename Visit>
  void VisitGroup(VertexId group, VertexId first, VertexId end, Visit visit) const {
    VisitFrom(group, end, [&](VertexId v, Place place) {
      if (v >= first) visit(v, place);
    });
  }

  std::uint64_t bytes() const {
    return codes_.size() + begins_.size() * sizeof(begins_[0]) +
           long_begins_.size() * sizeof(long_begins_[0]) + longs_.size() * sizeof(longs_[0]);
  }

 private:
  static constexpr std::uint8_t kLong = 255;

  template <typename Visit>
  void VisitFrom(VertexId group, VertexId end, Visit visit) const {
    EdgeOffset begin = begins_[group];
    std::uint32_t at = long_begins_[group];
    for (VertexId v = group * kGroup; v < end; ++v) {
      const EdgeOffset length = codes_[v] < kLong ? codes_[v] : longs_[at++];
      visit(v, Place{begin, length});
      begin += length;
    }
  }

  std::vector<std::uint8_t> codes_;
  std::vector<EdgeOffset> begins_;          // by group
  std::vector<std::uint32_t> long_begins_;  // by group: the first of its long lengths
  std::vector<std::uint32_t> longs_;
  EdgeOffset end_ = 0;
};

}  // namespace slimgraph
