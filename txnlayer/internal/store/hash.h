// Spreads neighbouring keys over a hash table.
#pragma once

#include <cstdint>

namespace slimgraph::txn {

// A bijection in which every output bit depends on all bits of the key (MurmurHash3's finalizer).
inline std::uint64_t Mix(std::uint64_t key) {
  key ^= key >> 33;
  key *= 0xFF51AFD7ED558CCD;
  key ^= key >> 33;
  key *= 0xC4CEB9FE1A85EC53;
  return key ^ (key >> 33);
}

}  // namespace slimgraph::txn
