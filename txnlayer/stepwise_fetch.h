// Fetches the tuples of a transaction step by step, where a step needs what earlier steps have
// read. Some protocols need the names of all tuples at first. There an attempt cannot commit once
// it comes to unnamed tuples. It gives its tuples back and only looks at the unnamed ones
// (Transaction::Look), so that it comes to all the others as well. The next attempt names them all.
// Where transactions mostly have few steps, the first attempts are aborted instead.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "txnlayer/transaction.h"

namespace slimgraph::txn {

class StepwiseFetch {
 public:
  enum class Steps : bool { kFew, kMany };
  StepwiseFetch(const Protocol& protocol, Steps steps)
      : names_first_(protocol.fetches_once()), steps_(steps) {}

  // Another transaction was chosen.
  void Forget();
  // An attempt begins.
  void Begin();
  // False: the transaction was aborted. A tuple that was named to be written, but is not wanted any
  // more, is written as it was.
  bool Fetch(Transaction& transaction, std::span<const Want> wants, Access** out);

 private:
  struct Name {
    bool write = false;
    bool used = false;         // in this attempt
    Access* access = nullptr;  // null: it was named in this attempt, too late
  };

  bool FetchNamed(Transaction& transaction);

  const bool names_first_;
  const Steps steps_;
  bool fetched_ = false;
  bool looked_ = false;        // this attempt has looked
  std::uint32_t gave_up_ = 0;  // how many attempts were aborted at unnamed tuples
  std::size_t used_ = 0;       // how many names were used in this attempt
  std::map<std::pair<Table*, Key>, Name> named_;
  std::vector<Want> wants_;
  std::vector<Access*> accesses_;
};

}  // namespace slimgraph::txn
