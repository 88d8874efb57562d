// A B+tree from keys to the offsets of tuples. Servers usually find records in such a tree. A node
// can search one instead of its hash table, for comparison (TableSpec::by_tree).
//
// One thread at a time inserts, beside lookups of others. A lookup that an insertion has overtaken
// begins again. It meets only whole nodes: none is freed while the tree is in use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "slimgraph/base/interleave.h"
#include "slimgraph/base/types.h"

namespace slimgraph::txn {

class KeyTree {
 public:
  // 0: the key is not there.
  std::uint64_t Find(std::uint64_t key) const;
  // The key is not there, and its value is not 0.
  void Insert(std::uint64_t key, std::uint64_t value);
  // When nothing runs.
  void Clear();

 private:
  static constexpr std::uint32_t kFanout = 16;

  struct alignas(kCacheLineBytes) Node {
    explicit Node(bool is_leaf) : leaf(is_leaf) {}
    const bool leaf;
    std::atomic<std::uint32_t> count{0};
    std::atomic<std::uint64_t> keys[kFanout] = {};
  };
  struct Leaf : Node {
    Leaf() : Node(true) {}
    std::atomic<std::uint64_t> values[kFanout] = {};
  };
  // The least keys of the nodes below. That of the first one has no meaning.
  struct Inner : Node {
    Inner() : Node(false) {}
    std::atomic<Node*> below[kFanout] = {};
  };
  // A node that a split has made, and its least key.
  struct Fresh {
    Node* node = nullptr;
    std::uint64_t least = 0;
  };

  static std::uint32_t UpTo(const Node& node, std::uint64_t key);
  std::uint64_t Search(std::uint64_t key) const;
  Fresh InsertBelow(Node& node, std::uint64_t key, std::uint64_t value);
  template <typename Kind, typename Entry>
  Fresh Put(Kind& node, std::atomic<Entry> (Kind::*entries)[kFanout], std::uint32_t slot,
            std::uint64_t key, Entry entry);
  template <typename Kind>
  Kind& NewNode();

  std::atomic<Node*> root_{nullptr};
  std::atomic<std::uint64_t> changes_{0};  // odd during an insertion
  std::vector<std::unique_ptr<Leaf>> leaves_;
  std::vector<std::unique_ptr<Inner>> inner_;
};

// The number of the node's keys that are not above this one.
inline std::uint32_t KeyTree::UpTo(const Node& node, std::uint64_t key) {
  const std::uint32_t count = node.count.load(std::memory_order_acquire);
  std::uint32_t slot = 0;
  while (slot < count && node.keys[slot].load(std::memory_order_acquire) <= key) ++slot;
  return slot;
}

inline std::uint64_t KeyTree::Search(std::uint64_t key) const {
  const Node* node = root_.load(std::memory_order_acquire);
  while (node != nullptr && !node->leaf) {
    const std::uint32_t slots = UpTo(*node, key);
    const auto& inner = static_cast<const Inner&>(*node);
    node = inner.below[slots == 0 ? 0 : slots - 1].load(std::memory_order_acquire);
  }
  if (node == nullptr) return 0;
  const std::uint32_t slots = UpTo(*node, key);
  if (slots == 0 || node->keys[slots - 1].load(std::memory_order_acquire) != key) return 0;
  return static_cast<const Leaf&>(*node).values[slots - 1].load(std::memory_order_acquire);
}

inline std::uint64_t KeyTree::Find(std::uint64_t key) const {
  while (true) {
    const std::uint64_t before = changes_.load(std::memory_order_acquire);
    const std::uint64_t found = Search(key);
    if (before % 2 == 0 && changes_.load(std::memory_order_acquire) == before) return found;
    SpinPause();
  }
}

}  // namespace slimgraph::txn
