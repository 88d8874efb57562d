// Tuples of OCC in a region, and what its stages (occ_steps.h) need to work on them.
#pragma once

#include <cstdint>
#include <cstring>

#include "tests/relacy/checker.h"
#include "tests/relacy/region_port.h"
#include "txnlayer/protocol/internal/occ_steps.h"

namespace slimgraph::txn {

// A tuple of OCC: its word, its key, and one version, which has a word and a record of two words.
struct TupleLayout {
  static std::uint64_t key_at() { return kWordBytes; }
  static std::uint64_t version_at(std::size_t) { return 2 * kWordBytes; }
  static std::uint64_t version_bytes() { return 3 * kWordBytes; }
  static std::uint64_t image_bytes() { return 4 * kWordBytes; }
  static std::uint64_t time_bytes() { return 0; }
};
constexpr std::size_t kTupleWords = 5;

// What the stages use of an Access (stages/access.h).
struct CheckedAccess {
  CheckedAccess(std::uint64_t its_offset, std::uint64_t its_key, Owner its_owner)
      : offset(its_offset), key(its_key), owner(its_owner) {}

  std::byte* version_bytes() { return image + kWordBytes; }
  void CheckKey() const { RL_ASSERT(Word(0) == key); }
  std::uint64_t Word(std::size_t word) const {
    std::uint64_t value;
    std::memcpy(&value, image + word * kWordBytes, sizeof value);
    return value;
  }
  void SetWord(std::uint64_t word) { std::memcpy(image + kWordBytes, &word, sizeof word); }
  // The record; its two words are equal.
  std::uint64_t Value() const {
    RL_ASSERT(Word(2) == Word(3));
    return Word(2);
  }
  void SetValue(std::uint64_t value) {
    for (const std::size_t word : {2, 3}) {
      std::memcpy(image + word * kWordBytes, &value, sizeof value);
    }
  }

  static constexpr TupleLayout kLayout = {};
  const TupleLayout* table = &kLayout;
  std::uint64_t offset;
  const std::uint64_t key;
  const Owner owner;
  bool absent = false;
  bool has_image = false;
  bool locked = false;
  std::uint64_t seen[2] = {};
  std::uint64_t reread[2] = {};
  std::uint64_t old_word = 0;
  std::uint64_t put[1] = {};
  std::byte image[4 * kWordBytes] = {};
};

// A stage of OCC on one tuple, and its check.
inline Step::Kind TakeStage(Stage stage, RegionPort port, CheckedAccess& access) {
  occ_steps::Post(stage, port, access);
  return occ_steps::Check(stage, access).kind;
}
inline bool ReadTuple(RegionPort port, CheckedAccess& access) {
  if (TakeStage(Stage::kRead, port, access) != Step::kDone) return false;
  access.Value();
  return true;
}

}  // namespace slimgraph::txn
