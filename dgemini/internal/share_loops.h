// Loops of all threads of a node over its share of the vertices, over all vertices, or over a list.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "dgemini/frontier.h"
#include "dgemini/internal/sparse_loop.h"
#include "dgemini/internal/vertex_lists.h"
#include "dgemini/workload.h"
#include "slimgraph/base/thread_team.h"
#include "slimgraph/base/work_shares.h"

namespace slimgraph::dgemini {

class ShareLoops {
 public:
  ShareLoops(const Workload& work, ThreadTeam& team) : work_(work), team_(team) {}

  // The number of blocks: first those in this node's memory, then those of memory nodes.
  std::size_t blocks() const { return work_.own_blocks().size() + work_.remote_blocks().size(); }

  // Calls body(thread, number, block) for each block of the share.
  template <typename Body>
  void ForEachBlock(Body body) const {
    const auto& own = work_.own_blocks();
    const auto& remote = work_.remote_blocks();
    WorkShares shares;
    shares.Share(blocks(), team_.threads());
    team_.Run([&](std::uint32_t t) {
      while (const auto taken = shares.Take(t, 1)) {
        const std::size_t i = taken->first;
        body(t, i, i < own.size() ? own[i] : remote[i - own.size()]);
      }
    });
  }

  // Calls body(v) for each vertex of the graph.
  template <typename Body>
  void ForAll(Body body) const {
    const std::uint64_t vertices = work_.vertices();
    const std::uint64_t each = (vertices + team_.threads() - 1) / team_.threads();
    team_.Run([&](std::uint32_t t) {
      const std::uint64_t end = std::min(vertices, (t + 1) * each);
      for (std::uint64_t v = t * each; v < end; ++v) body(static_cast<VertexId>(v));
    });
  }

  // Calls body(span) for pieces of the vertices that the frontier's bitmap has.
  template <typename Body>
  void ForAllIn(const Frontier& frontier, Body body) const {
    const std::size_t words = frontier.words();
    const std::size_t each = (words + team_.threads() - 1) / team_.threads();
    team_.Run([&](std::uint32_t t) {
      std::array<VertexId, 64> found;
      const std::size_t end = std::min(words, (t + 1) * each);
      for (std::size_t word = t * each; word < end; ++word) {
        std::size_t count = 0;
        for (std::uint64_t bits = frontier.word(word); bits != 0; bits &= bits - 1) {
          found[count++] =
              static_cast<VertexId>(word * 64) + static_cast<VertexId>(std::countr_zero(bits));
        }
        if (count > 0) body(std::span<const VertexId>(found).first(count));
      }
    });
  }

  // Adds the vertices of the share for which chosen(v) is true to the frontier's bitmap.
  template <typename Chosen>
  void AddChosen(Frontier& frontier, Chosen chosen) const {
    ForEachBlock([&](std::uint32_t, std::size_t, const Workload::Block& block) {
      for (VertexId v = block.first; v < block.end;) {
        const std::size_t word = v / 64;
        std::uint64_t bits = 0;
        for (; v < block.end && v / 64 == word; ++v) {
          bits |= static_cast<std::uint64_t>(chosen(v)) << (v % 64);
        }
        if (bits != 0) frontier.AddWord(word, bits);
      }
    });
  }

  // Calls body(span) for pieces of the list that together have all its vertices.
  template <typename Body>
  void ForEachListed(const VertexLists& list, Body body) const {
    const std::size_t size = list.size();
    const std::size_t shares = size < SparseLoop::kSerialLists ? 1 : team_.threads();
    const auto on_thread = [&](std::size_t t) {
      list.ForRange(t * size / shares, (t + 1) * size / shares,
                    [&](std::span<const VertexId> part, std::size_t first, std::size_t end) {
                      body(part.subspan(first, end - first));
                    });
    };
    if (shares == 1) return on_thread(0);
    team_.Run([&](std::uint32_t t) { on_thread(t); });
  }

  // Calls body(thread, part) for each part of the lists, on all threads unless they are short.
  template <typename Body>
  void ForEachPart(VertexLists& lists, Body body) const {
    for (std::uint32_t t = 0; t < team_.threads(); ++t) lists.part(t);
    if (lists.size() >= SparseLoop::kSerialLists) {
      return team_.Run([&](std::uint32_t t) { body(t, lists.part(t)); });
    }
    for (std::uint32_t t = 0; t < team_.threads(); ++t) body(t, lists.part(t));
  }

 private:
  const Workload& work_;
  ThreadTeam& team_;
};

}  // namespace slimgraph::dgemini
