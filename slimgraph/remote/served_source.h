// Lists by request: the memory node's server gathers them and sends them in messages. The memory
// node is told which vertices are wanted, and nothing needs to be known of them here.
#pragma once

#include "slimgraph/remote/list_batch.h"

namespace slimgraph {

class ServedSource;

// Takes answers for all threads of this node. Made before anything is asked for.
class ListAnswers {
 public:
  explicit ListAnswers(Fabric& fabric);

 private:
  friend class ServedSource;
  std::vector<ServedSource*> sources_;  // by endpoint
};

class ServedSource : public ListSource {
 public:
  // `batches` are all that will ever be asked for, by their number.
  ServedSource(Fabric& fabric, Endpoint& endpoint, ListAnswers& answers,
               std::span<ListBatch> batches);
  ~ServedSource() override;

  void Ask(ListBatch& batch) override;
  Status Ended(ListBatch&, Outcome) override { return {}; }
  Status Check(NodeId node) const override;

 private:
  friend class ListAnswers;
  void Take(Bytes message);
  void FindInAnswer(ListBatch& batch, std::uint32_t answered);

  Fabric& fabric_;
  Endpoint& endpoint_;
  ListAnswers& answers_;
  std::span<ListBatch> batches_;
  std::vector<VertexId> vertices_;
  std::vector<std::byte> request_;
};

}  // namespace slimgraph
