// The modes of a lock. A part of a table is locked in an intention mode (IS, IX, SIX) before its
// rows are locked one by one; S and X on the part lock all of its rows.
#pragma once

#include <cstdint>

namespace slimgraph::txn {

enum class LockMode : std::uint8_t { kFree, kIS, kIX, kS, kSIX, kX };
constexpr unsigned kLockModes = 6;

// Whether two transactions may hold a lock in these modes at a time.
constexpr bool Compatible(LockMode one, LockMode other) {
  constexpr bool kTable[kLockModes][kLockModes] = {
      // free  IS     IX     S      SIX    X
      {true, true, true, true, true, true},       // free
      {true, true, true, true, true, false},      // IS
      {true, true, true, false, false, false},    // IX
      {true, true, false, true, false, false},    // S
      {true, true, false, false, false, false},   // SIX
      {true, false, false, false, false, false},  // X
  };
  return kTable[static_cast<unsigned>(one)][static_cast<unsigned>(other)];
}

// The weakest mode that permits what both modes permit.
constexpr LockMode Union(LockMode one, LockMode other) {
  const LockMode weaker = one < other ? one : other;
  const LockMode stronger = one < other ? other : one;
  return weaker == LockMode::kIX && stronger == LockMode::kS ? LockMode::kSIX : stronger;
}

}  // namespace slimgraph::txn
