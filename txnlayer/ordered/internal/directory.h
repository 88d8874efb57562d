// What a node knows of where the leaves of an ordered table begin. Leaves are split on other nodes
// too, so this may be out of date; ordered_table.h says why that does no harm.
//
// Most of it is learned at once (learned_keys.h). What was noticed since then is in two short
// lists. When they have grown, the thread that notices it trains the model again, beside the
// others.
#pragma once

#include <memory>
#include <vector>

#include "slimgraph/base/sync.h"
#include "txnlayer/ordered/internal/learned_keys.h"

namespace slimgraph::txn {

// Thread-safe.
class Directory {
 public:
  // Forgets everything else. `lows`: the least keys of leaves, which rise; the first is 0.
  void Learn(std::vector<Key> lows);
  // The largest known least key of a leaf that is at most `key`.
  Key Find(Key key) const;
  // Appends those that follow `low`, up to `last`, at most `most` of them.
  void Following(Key low, Key last, std::size_t most, std::vector<Key>& lows) const;
  // A leaf that begins at `low` was found, or is missing.
  void Add(Key low);
  void Remove(Key low);

  std::uint64_t leaves() const;
  std::uint64_t bytes() const;
  std::uint64_t trained() const;  // how often

 private:
  using Lows = std::vector<Key>;
  static bool Contains(const Lows& lows, Key low);
  static void Insert(Lows& lows, Key low);
  static void Erase(Lows& lows, Key low);
  bool TrainingIsDue() const;
  void Train();

  mutable SharedMutex mutex_;
  std::shared_ptr<const LearnedKeys> learned_ =
      std::make_shared<const LearnedKeys>(std::vector<Key>{0});
  Lows added_;    // not among those learned
  Lows removed_;  // among those learned
  bool training_ = false;
  std::uint64_t trained_ = 0;
};

}  // namespace slimgraph::txn
