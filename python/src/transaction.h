// A transaction as the Python function that is its body sees it. It can be used only by the thread
// that runs the body, and only until the body has returned.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "python/src/await.h"
#include "python/src/nodes.h"
#include "slimgraph/session/store_transaction.h"

namespace slimgraph::python {

// Throws slimgraph.errors.AbortedError.
[[noreturn]] void ThrowAborted(const Error& error);

class Transaction {
 public:
  Transaction(std::shared_ptr<const Nodes> nodes, WriteTransaction& transaction)
      : nodes_(std::move(nodes)),
        transaction_(&transaction),
        thread_(PyThread_get_thread_ident()) {}

  // Without the GIL: an operation may wait for another transaction, whose body needs the GIL.
  template <typename Operation>
  auto Do(Operation operation) {
    CheckUsable();
    auto result = [&] {
      const nanobind::gil_scoped_release release;
      return operation(*transaction_);
    }();
    if (!result && result.error().kind == ErrorKind::kEnvironment) ThrowAborted(result.error());
    return Checked(std::move(result));
  }
  void End() {
    transaction_ = nullptr;
    nodes_.reset();
  }

 private:
  void CheckUsable() const;

  std::shared_ptr<const Nodes> nodes_;
  WriteTransaction* transaction_;  // null once the body has returned
  const unsigned long thread_;
};

void BindTransaction(nanobind::module_& module);

}  // namespace slimgraph::python
