// The operations of a body, on a lane of the store's engine.
#pragma once

#include <string>

#include "slimgraph/session/store_transaction.h"
#include "txnlayer/graph/lane.h"

namespace slimgraph::internal {

class StoreOperations {
 public:
  StoreOperations(txn::Lane& lane, const txn::GraphShape& shape) : lane_(lane), shape_(shape) {}

  const txn::GraphShape& shape() const { return shape_; }
  // Why the session is over, or nothing.
  std::string WhyOver() const { return lane_.WhyOver(); }
  // An error if the transaction has ended. False: what it is about does not exist.
  Result<bool> Do(const std::function<txn::Answer(txn::GraphTransaction&)>& operation);
  // The same, where nothing may be missing: `missing` says what is.
  Status Require(const std::string& missing,
                 const std::function<txn::Answer(txn::GraphTransaction&)>& operation);

  Status CheckId(std::uint64_t vertex) const;
  Status CheckVertexProperties(std::span<const std::byte> properties) const;
  // An edge's data as the store keeps it, and back.
  Result<std::vector<std::byte>> Encode(const EdgeData& data) const;
  EdgeData Decode(const std::byte* properties) const;  // null: zeros

 private:
  txn::Lane& lane_;
  const txn::GraphShape& shape_;
};

}  // namespace slimgraph::internal
