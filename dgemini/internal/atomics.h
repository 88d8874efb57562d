// Atomic operations on a vertex's value, for several threads of a node.
#pragma once

#include <atomic>
#include <type_traits>

namespace slimgraph::dgemini {

template <typename T>
T Load(const T& value) {
  return std::atomic_ref<T>(const_cast<T&>(value)).load(std::memory_order_relaxed);
}

// A sequentially consistent load.
template <typename T>
T LoadSeqCst(const T& value) {
  return std::atomic_ref<T>(const_cast<T&>(value)).load();
}

template <typename T>
void Store(T& value, T to) {
  std::atomic_ref<T>(value).store(to, std::memory_order_relaxed);
}

// Changes `value` from `from` to `to` with a CAS. Returns whether this call has changed it.
template <typename T>
bool ChangeFrom(T& value, T from, T to) {
  if (Load(value) != from) return false;
  return std::atomic_ref<T>(value).compare_exchange_strong(from, to, std::memory_order_relaxed);
}

// Lowers `value` to `to` if that is smaller, sequentially consistently. Returns whether this call
// has lowered it. `before` becomes the previous value.
template <typename T>
bool Lower(T& value, T to, T& before) {
  before = Load(value);
  while (to < before) {
    if (std::atomic_ref<T>(value).compare_exchange_weak(before, to)) return true;
  }
  return false;
}
template <typename T>
bool Lower(T& value, T to) {
  T before;
  return Lower(value, to, before);
}

template <typename T>
void Increase(T& value, T by) {
  if constexpr (std::is_arithmetic_v<T>) {
    std::atomic_ref<T>(value).fetch_add(by, std::memory_order_relaxed);
  } else {
    std::atomic_ref<T> shared(value);
    T now = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(now, now + by, std::memory_order_relaxed)) {
    }
  }
}

}  // namespace slimgraph::dgemini
