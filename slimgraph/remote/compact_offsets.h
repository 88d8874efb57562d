// The index cache: where each list of a part lies and how long it is, in little more than a byte
// per vertex. A byte holds a list's length, from which its coded bytes follow; every 64 vertices
// the sums of all before are kept, and lengths that a byte cannot hold stand apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph {

class CompactOffsets {
 public:
  static constexpr VertexId kGroup = 64;
  static constexpr std::uint8_t kLong = 255;  // this length and more

  struct Place {
    EdgeOffset begin;  // in arcs
    EdgeOffset length;
    std::uint64_t first_byte;  // of the coded list
  };

  explicit CompactOffsets(const ListCode& code) : code_(code) {}

  // What it takes for so many lists, so many of them of kLong and more.
  static constexpr std::uint64_t Bytes(std::uint64_t count, std::uint64_t long_lists) {
    return count + (count / kGroup + 2) * 20 + long_lists * 4;
  }

  void Reserve(VertexId count);
  // The length of the next vertex's list.
  void Append(EdgeOffset length);
  // After the last; the object does not change any more.
  void Finish();

  VertexId count() const { return static_cast<VertexId>(codes_.size()); }
  VertexId groups() const { return (count() + kGroup - 1) / kGroup; }
  // Of group groups(), the end of all lists.
  EdgeOffset group_begin(VertexId group) const { return begins_[group]; }
  EdgeOffset length(VertexId v) const { return codes_[v] < kLong ? codes_[v] : FindArcs(v).length; }

  // A place without the bytes.
  struct Arcs {
    EdgeOffset begin;
    EdgeOffset length;
  };
  Arcs FindArcs(VertexId v) const {
    const VertexId group = v / kGroup;
    EdgeOffset sum = 0;
    std::size_t longs = 0;
    for (const std::uint8_t* code = &codes_[group * kGroup]; code != &codes_[v]; ++code) {
      sum += *code;
      longs += *code == kLong ? 1 : 0;
    }
    const std::uint32_t* const length = longs_.data() + long_begins_[group];
    for (std::size_t i = 0; i < longs; ++i) sum += length[i] - kLong;
    return {begins_[group] + sum, codes_[v] == kLong ? length[longs] : codes_[v]};
  }
  // FindArcs will soon be called.
  void Ask(VertexId v) const {
    __builtin_prefetch(&codes_[v / kGroup * kGroup]);
    __builtin_prefetch(&begins_[v / kGroup]);
  }
  // The list in which an arc is, which there is.
  VertexId ListOf(EdgeOffset arc) const {
    const auto group = std::upper_bound(begins_.begin(), begins_.end() - 1, arc) - 1;
    auto v = static_cast<VertexId>(group - begins_.begin()) * kGroup;
    const std::uint32_t* length = longs_.data() + long_begins_[v / kGroup];
    for (EdgeOffset end = *group;; ++v) {
      end += codes_[v] == kLong ? *length++ : codes_[v];
      if (arc < end) return v;
    }
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
           first_bytes_.size() * sizeof(first_bytes_[0]) +
           long_begins_.size() * sizeof(long_begins_[0]) + longs_.size() * sizeof(longs_[0]);
  }

 private:
  void BeginGroup();
  template <typename Visit>
  void VisitFrom(VertexId group, VertexId end, Visit visit) const {
    Place place{begins_[group], 0, first_bytes_[group]};
    std::uint32_t at = long_begins_[group];
    for (VertexId v = group * kGroup; v < end; ++v) {
      const bool is_long = codes_[v] == kLong;
      place.length = is_long ? longs_[at++] : codes_[v];
      visit(v, place);
      place.begin += place.length;
      place.first_byte += code_.Bytes(place.length);
    }
  }

  ListCode code_;
  std::vector<std::uint8_t> codes_;
  std::vector<EdgeOffset> begins_;          // by group
  std::vector<std::uint64_t> first_bytes_;  // by group
  std::vector<std::uint32_t> long_begins_;  // by group: the first of its long lengths
  std::vector<std::uint32_t> longs_;
  EdgeOffset end_ = 0;
  std::uint64_t end_byte_ = 0;
};

}  // namespace slimgraph
