// The active vertices: a bitmap over all vertices, a list, or both. A node's frontier holds those
// of its own share; bits of others' vertices stand in it only while a step needs them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "dgemini/vertex_array.h"
#include "dgemini/vertex_lists.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

class Frontier {
 public:
  Frontier() = default;
  explicit Frontier(VertexId vertices) : words_((std::size_t{vertices} + 63) / 64) {}

  bool Has(VertexId v) const { return (words_[v / 64] >> (v % 64) & 1) != 0; }
  // Whether this call has added it to the bitmap; any thread. If it has not, who removes the vertex
  // later and then looks at it, sees what this thread had done to it before: all in the one order
  // of operations that are sequentially consistent.
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
    if (!marked_) {
      SLIM_CHECK(listed_);
    } else if (listed_ && !mixed_) {
      list_.ForEach([&](VertexId v) { words_[v / 64] = 0; });
    } else {
      std::fill(words_.data(), words_.data() + words_.size(), 0);
    }
    list_.clear();
    listed_ = true;
    marked_ = true;
    mixed_ = false;
    active_ = {};
  }

  std::size_t words() const { return words_.size(); }
  std::uint64_t word(std::size_t i) const { return words_[i]; }

  // Whether list() names all of the share that are active, and the bitmap; one of them does.
  bool listed() const { return listed_; }
  bool marked() const { return marked_; }
  VertexLists& list() { return list_; }
  const VertexLists& list() const { return list_; }
  // Without its list, it can only be cleared.
  VertexLists TakeList() {
    SLIM_CHECK(listed_);
    listed_ = !marked_;
    return std::exchange(list_, {});
  }
  // Those of the share that are active from now on are these.
  void SetList(VertexLists list) {
    Clear();
    list_ = std::move(list);
    marked_ = false;
  }
  void SetListed(bool listed) { listed_ = listed; }
  // While it is not, no bit is set.
  void SetMarked(bool marked) { marked_ = marked; }
  // Bits of others' vertices are in it from now on.
  void SetMixed() { mixed_ = true; }

  // Over all nodes.
  struct Size {
    std::uint64_t vertices = 0;
    // Of their out lists; where they are few, perhaps more until a step has walked these.
    std::uint64_t edges = 0;
  };
  const Size& active() const { return active_; }
  void SetActive(Size active) { active_ = active; }
  void SetEdges(std::uint64_t edges) { active_.edges = edges; }
  bool empty() const { return active_.vertices == 0; }

 private:
  VertexArray<std::uint64_t> words_;
  VertexLists list_;
  bool listed_ = true;
  bool marked_ = true;
  bool mixed_ = false;
  Size active_;
};

}  // namespace slimgraph
