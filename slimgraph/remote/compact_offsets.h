// The index: where each list of a part is and how long it is, in under 2.5 bytes per vertex. Lists
// form groups of 64. The index stores where each group begins, and for each list a 16-bit offset
// within its group. A group with too many arcs for 16 bits stores 64-bit offsets instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "slimgraph/base/types.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph {

class CompactOffsets {
 public:
  static constexpr VertexId kGroup = 64;

  struct ListLocation {
    EdgeOffset begin;  // in arcs
    EdgeOffset length;
    std::uint64_t first_byte;  // of the coded list
  };

  explicit CompactOffsets(const ListCode& code) : code_(code) {}

  // An upper bound on the bytes of an index of `count` lists with `arcs` arcs together.
  static constexpr std::uint64_t Bytes(std::uint64_t count, EdgeOffset arcs) {
    const std::uint64_t groups = count / kGroup + 2;
    const std::uint64_t wide_groups = std::min(groups, arcs / kNarrowEnd);
    return (count + 1) * sizeof(std::uint16_t) + groups * sizeof(Group) +
           wide_groups * (kGroup + 1) * sizeof(EdgeOffset);
  }

  void Reserve(VertexId count);
  // Appends the next vertex, whose list has `length` arcs.
  void Append(EdgeOffset length);
  // Call it after the last Append. The object does not change any more.
  void Finish();

  static constexpr VertexId Groups(VertexId count) {
    return static_cast<VertexId>((std::uint64_t{count} + kGroup - 1) / kGroup);
  }
  VertexId count() const { return static_cast<VertexId>(starts_.size() - 1); }
  VertexId groups() const { return static_cast<VertexId>(groups_.size() - 1); }
  // The first arc of a group; for group == groups(), the end of all lists.
  EdgeOffset group_begin(VertexId group) const { return groups_[group].begin; }
  EdgeOffset arcs() const { return groups_.back().begin; }
  // As group_begin(), in bytes of coded lists.
  std::uint64_t group_first_byte(VertexId group) const { return groups_[group].first_byte; }
  // The bytes of all coded lists.
  std::uint64_t coded_bytes() const { return groups_.back().first_byte; }
  // The first arc of v's list; for v == count(), the end of all lists.
  EdgeOffset begin(VertexId v) const {
    const Group& group = groups_[v / kGroup];
    return group.begin + (group.wide == kNarrow ? starts_[v] : wide_[group.wide + v % kGroup]);
  }
  EdgeOffset length(VertexId v) const { return begin(v + 1) - begin(v); }

  // Like ListLocation, but without the byte position, which takes longer to compute.
  struct Arcs {
    EdgeOffset begin;
    EdgeOffset length;
  };
  Arcs FindArcs(VertexId v) const {
    const EdgeOffset first = begin(v);
    return {first, begin(v + 1) - first};
  }
  // The first byte of v's coded list; for v == count(), the end of all lists.
  std::uint64_t FindByte(VertexId v) const {
    const Group& group = groups_[v / kGroup];
    std::uint64_t byte = group.first_byte;
    EdgeOffset at = group.begin;
    for (VertexId before = v / kGroup * kGroup; before < v; ++before) {
      const EdgeOffset next = begin(before + 1);
      byte += code_.Bytes(next - at);
      at = next;
    }
    return byte;
  }
  // Prefetches what FindArcs(v) reads.
  void Prefetch(VertexId v) const {
    __builtin_prefetch(&starts_[v]);
    __builtin_prefetch(&groups_[v / kGroup]);
  }
  // The vertex whose list contains `arc`, which must be below arcs().
  VertexId ListOf(EdgeOffset arc) const {
    const auto after = std::upper_bound(
        groups_.begin(), groups_.end() - 1, arc,
        [](EdgeOffset wanted, const Group& group) { return wanted < group.begin; });
    auto v = static_cast<VertexId>(after - groups_.begin() - 1) * kGroup;
    while (begin(v + 1) <= arc) ++v;
    return v;
  }

  // Calls visit(v, location) for the vertices first .. end-1, all of one group.
  template <typename Visit>
  void VisitGroup(VertexId group, VertexId first, VertexId end, Visit visit) const {
    VisitFrom(group, end, [&](VertexId v, const ListLocation& location) {
      if (v >= first) visit(v, location);
    });
  }

  std::uint64_t bytes() const {
    return starts_.size() * sizeof(starts_[0]) + groups_.size() * sizeof(groups_[0]) +
           wide_.size() * sizeof(wide_[0]);
  }

 private:
  static constexpr EdgeOffset kNarrowEnd = EdgeOffset{1} << 16;
  static constexpr std::uint32_t kNarrow = std::numeric_limits<std::uint32_t>::max();
  struct Group {
    EdgeOffset begin;
    std::uint64_t first_byte;
    std::uint32_t wide;  // where its offsets begin in wide_, or kNarrow
  };

  void BeginGroup();
  void AppendStart();
  template <typename Visit>
  void VisitFrom(VertexId group, VertexId end, Visit visit) const {
    const Group& at = groups_[group];
    const VertexId first = group * kGroup;
    const EdgeOffset* const wide = at.wide == kNarrow ? nullptr : &wide_[at.wide];
    ListLocation location{at.begin, 0, at.first_byte};
    for (VertexId v = first; v < end; ++v) {
      const VertexId next = v + 1;
      const EdgeOffset next_begin =
          next - first == kGroup
              ? groups_[group + 1].begin
              : at.begin + (wide == nullptr ? starts_[next] : wide[next - first]);
      location.length = next_begin - location.begin;
      visit(v, location);
      location.begin = next_begin;
      location.first_byte += code_.Bytes(location.length);
    }
  }

  ListCode code_;
  std::vector<std::uint16_t> starts_;  // by vertex, within its group; then the end of all lists
  std::vector<Group> groups_;          // then a sentinel: the end of all lists
  std::vector<EdgeOffset> wide_;
  EdgeOffset end_ = 0;
  std::uint64_t end_byte_ = 0;
};

}  // namespace slimgraph
