// Fetches the tuples of a transaction step by step, where a step needs what earlier steps have
// read. Some protocols need the names of all tuples at first. There an attempt cannot commit once
// it comes to unnamed tuples, and the next attempt names these too.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "txnlayer/transaction.h"

namespace slimgraph::txn {

class StepwiseFetch {
 public:
  // What an attempt does at unnamed tuples. kAbort: it is aborted. kLook: it gives its tuples back
  // and only looks at the others (Transaction::Look), so that it learns the names of all. That is
  // faster for transactions of more than a few steps.
  enum class Unnamed : bool { kAbort, kLook };
  StepwiseFetch(const Protocol& protocol, Unnamed unnamed)
      : names_first_(protocol.fetches_once()), unnamed_(unnamed) {}

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
  const Unnamed unnamed_;
  bool fetched_ = false;
  bool looked_ = false;   // this attempt has looked
  std::size_t used_ = 0;  // how many names were used in this attempt
  std::map<std::pair<Table*, Key>, Name> named_;
  std::vector<Want> wants_;
  std::vector<Access*> accesses_;
};

}  // namespace slimgraph::txn
