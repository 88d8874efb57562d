// Fetches lists by request: the memory node's server gathers them and sends them in messages. The
// requester sends only vertices, and needs no offsets or lengths of their lists.
#pragma once

#include "slimgraph/remote/list_batch.h"

namespace slimgraph {

class ServedSource;

// Receives the answers for all threads of this node. Create it before any request is sent.
class ListAnswers {
 public:
  explicit ListAnswers(Fabric& fabric);

 private:
  friend class ServedSource;
  std::vector<ServedSource*> sources_;  // by endpoint; null if it has no requester
  HandlerRegistration handler_;
};

class ServedSource : public ListSource {
 public:
  // `batches` are all batches that will ever be fetched, indexed by their number.
  ServedSource(Fabric& fabric, Endpoint& endpoint, ListAnswers& answers,
               std::span<ListBatch> batches);
  ~ServedSource() override;

  void StartFetch(ListBatch& batch) override;
  Status HandleCompletion(ListBatch&, Outcome) override { return {}; }
  Status CheckAlive(NodeId node) const override;

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
