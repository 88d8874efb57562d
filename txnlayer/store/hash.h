// Spreads keys that lie side by side.
#pragma once

#include <cstdint>

namespace slimgraph::txn {

// A bijection of which every bit depends on all bits of the key (the finalizer of MurmurHash3).
inline std::uint64_t Mix(std::uint64_t key) {
  key ^= key >> 33;
  key *= 0xFF51AFD7ED558CCD;
  key ^= key >> 33;
  key *= 0xC4CEB9FE1A85EC53;
  return key ^ (key >> 33);
}

}  // namespace slimgraph::txn
