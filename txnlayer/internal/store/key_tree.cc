#include "txnlayer/internal/store/key_tree.h"

#include <algorithm>
#include <type_traits>

namespace slimgraph::txn {
namespace {

// A lookup that sees the entry also sees that the count of changes is odd.
template <typename Value>
void Move(std::atomic<Value>& to, const std::atomic<Value>& from) {
  to.store(from.load(std::memory_order_relaxed), std::memory_order_release);
}

}  // namespace

template <typename Kind>
Kind& KeyTree::NewNode() {
  if constexpr (std::is_same_v<Kind, Leaf>) {
    return *leaves_.emplace_back(std::make_unique<Leaf>());
  } else {
    return *inner_.emplace_back(std::make_unique<Inner>());
  }
}

void KeyTree::Insert(std::uint64_t key, std::uint64_t value) {
  const std::uint64_t before = changes_.load(std::memory_order_relaxed);
  changes_.store(before + 1);
  Node* root = root_.load(std::memory_order_relaxed);
  if (root == nullptr) {
    root = &NewNode<Leaf>();
    root_.store(root, std::memory_order_release);
  }
  const Fresh fresh = InsertBelow(*root, key, value);
  if (fresh.node != nullptr) {
    Inner& above = NewNode<Inner>();
    above.below[0].store(root, std::memory_order_relaxed);
    above.below[1].store(fresh.node, std::memory_order_relaxed);
    above.keys[1].store(fresh.least, std::memory_order_relaxed);
    above.count.store(2, std::memory_order_relaxed);
    root_.store(&above, std::memory_order_release);
  }
  changes_.store(before + 2, std::memory_order_release);
}

KeyTree::Fresh KeyTree::InsertBelow(Node& node, std::uint64_t key, std::uint64_t value) {
  const std::uint32_t slots = UpTo(node, key);
  if (node.leaf) return Put(static_cast<Leaf&>(node), &Leaf::values, slots, key, value);
  auto& inner = static_cast<Inner&>(node);
  const std::uint32_t at = std::max(slots, 1U) - 1;
  const Fresh fresh = InsertBelow(*inner.below[at].load(std::memory_order_relaxed), key, value);
  if (fresh.node == nullptr) return {};
  return Put(inner, &Inner::below, at + 1, fresh.least, fresh.node);
}

// Puts the entry before that of the slot. A node that is full is split: in the middle, or behind
// its entries if the new one is the last, so that ascending keys fill the nodes.
template <typename Kind, typename Entry>
KeyTree::Fresh KeyTree::Put(Kind& node, std::atomic<Entry> (Kind::*entries)[kFanout],
                            std::uint32_t slot, std::uint64_t key, Entry entry) {
  const std::uint32_t count = node.count.load(std::memory_order_relaxed);
  if (count == kFanout) {
    Kind& fresh = NewNode<Kind>();
    const std::uint32_t stay = slot == kFanout ? kFanout : kFanout / 2;
    for (std::uint32_t i = stay; i < kFanout; ++i) {
      Move(fresh.keys[i - stay], node.keys[i]);
      Move((fresh.*entries)[i - stay], (node.*entries)[i]);
    }
    fresh.count.store(kFanout - stay, std::memory_order_release);
    node.count.store(stay, std::memory_order_release);
    if (slot > stay || stay == kFanout) {
      Put(fresh, entries, slot - stay, key, entry);
    } else {
      Put(node, entries, slot, key, entry);
    }
    return {&fresh, fresh.keys[0].load(std::memory_order_relaxed)};
  }
  for (std::uint32_t i = count; i > slot; --i) {
    Move(node.keys[i], node.keys[i - 1]);
    Move((node.*entries)[i], (node.*entries)[i - 1]);
  }
  node.keys[slot].store(key, std::memory_order_release);
  (node.*entries)[slot].store(entry, std::memory_order_release);
  node.count.store(count + 1, std::memory_order_release);
  return {};
}

void KeyTree::Clear() {
  root_ = nullptr;
  leaves_.clear();
  inner_.clear();
}

}  // namespace slimgraph::txn
