// The active vertices, as a bitmap over all vertices, a list, or both. A node's frontier holds the
// active vertices of its own share. Its bitmap has bits of other nodes' vertices only during a step
// that needs them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "dgemini/internal/vertex_lists.h"
#include "dgemini/vertex_array.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/types.h"

namespace slimgraph::dgemini {

class Frontier {
 public:
  Frontier() = default;
  explicit Frontier(VertexId vertices) : words_((std::size_t{vertices} + 63) / 64) {}

  bool Has(VertexId v) const { return (words_[v / 64] >> (v % 64) & 1) != 0; }
  // Adds v to the bitmap, and returns whether it was not there before. Any thread may call it. If
  // it returns false, the thread that later calls Remove(v) and then reads v's value sees what this
  // thread wrote to the value before: the load, the removal and the accesses to the value are
  // sequentially consistent.
  bool Add(VertexId v) {
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    const std::atomic_ref<std::uint64_t> word(words_[v / 64]);
    if ((word.load() & bit) != 0) return false;
    return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }
  void AddWord(std::size_t word, std::uint64_t bits) {
    std::atomic_ref<std::uint64_t>(words_[word]).fetch_or(bits, std::memory_order_relaxed);
  }
  void Remove(VertexId v) {
    std::atomic_ref<std::uint64_t>(words_[v / 64]).fetch_and(~(std::uint64_t{1} << (v % 64)));
  }
  void Clear() {
    if (!has_bitmap_) {
      SLIM_CHECK(has_list_);
    } else if (has_list_ && !has_remote_bits_) {
      list_.ForEach([&](VertexId v) { words_[v / 64] = 0; });
    } else {
      std::fill(words_.data(), words_.data() + words_.size(), 0);
    }
    list_.clear();
    has_list_ = true;
    has_bitmap_ = true;
    has_remote_bits_ = false;
    active_ = {};
  }

  std::size_t words() const { return words_.size(); }
  std::uint64_t word(std::size_t i) const { return words_[i]; }

  // Whether list(), and whether the bitmap, contains all active vertices of the share. At least one
  // of them does.
  bool has_list() const { return has_list_; }
  bool has_bitmap() const { return has_bitmap_; }
  VertexLists& list() { return list_; }
  const VertexLists& list() const { return list_; }
  // Moves the list out. A frontier without a bitmap can then only be cleared.
  VertexLists TakeList() {
    SLIM_CHECK(has_list_);
    has_list_ = !has_bitmap_;
    return std::exchange(list_, {});
  }
  // Makes `list` the active vertices of the share. The bitmap stays empty.
  void SetList(VertexLists list) {
    Clear();
    list_ = std::move(list);
    has_bitmap_ = false;
  }
  void SetHasList(bool has_list) { has_list_ = has_list; }
  // While it is false, no bit may be set.
  void SetHasBitmap(bool has_bitmap) { has_bitmap_ = has_bitmap; }
  // Declares that the bitmap has bits of other nodes' vertices from now on.
  void SetHasRemoteBits() { has_remote_bits_ = true; }

  // The sums over all nodes.
  struct Size {
    std::uint64_t vertices = 0;
    // The arcs of their out lists. Of few vertices it is an upper bound until a step has walked
    // their lists.
    std::uint64_t edges = 0;
  };
  const Size& active() const { return active_; }
  void SetActive(Size active) { active_ = active; }
  void SetEdges(std::uint64_t edges) { active_.edges = edges; }
  bool empty() const { return active_.vertices == 0; }

 private:
  VertexArray<std::uint64_t> words_;
  VertexLists list_;
  bool has_list_ = true;
  bool has_bitmap_ = true;
  bool has_remote_bits_ = false;
  Size active_;
};

}  // namespace slimgraph::dgemini
