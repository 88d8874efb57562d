// What the body of a transaction on a GraphStore can do. Vertices are named by their original ids.
//
// An operation returns an error if the body asks for something impossible, such as an edge to a
// vertex that does not exist, or if the transaction has met another one. The body passes the error
// on, or returns another: SLIM_TRY and SLIM_ASSIGN do that. A transaction that has met another one
// is begun anew, whatever its body returns.
//
// A body may run several times, and what it finds may be inconsistent if it does not commit. So it
// changes nothing outside that a later run does not overwrite. Only its own thread uses the
// transaction, and only until the body returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph {

namespace internal {
class StoreOperations;
}

struct EdgeData {
  double weight = 1;                       // used only in stores with weights
  std::vector<std::byte> properties = {};  // empty: zeros; else as many bytes as the store gives
};

struct StoredNeighbour {
  std::uint64_t id = 0;
  EdgeData data;
  // When the edge was last written: TransactionOutcome::time of that transaction, until it becomes
  // part of the store. 0: with the store. The largest number: by this transaction.
  std::uint64_t time = 0;
};

// In an undirected graph both mean all edges.
enum class EdgeSide { kOutgoing, kIncoming };

// Which neighbours of a vertex, and in which order.
struct NeighbourChoice {
  EdgeSide side = EdgeSide::kOutgoing;
  bool newest_first = false;  // by StoredNeighbour::time; else in ascending order of ids
  std::uint64_t most = ~std::uint64_t{0};
  // Only edges of these times, both included.
  std::uint64_t from = 0;
  std::uint64_t to = ~std::uint64_t{0};
};

// Bodies of read-only transactions get this part.
class ReadTransaction {
 public:
  explicit ReadTransaction(internal::StoreOperations& operations) : operations_(operations) {}

  // Whether the session is over, so that the transaction will not commit. Operations return errors
  // then. A body that computes or waits for long between operations asks for this, and returns.
  bool Over() const;

  Result<bool> HasVertex(std::uint64_t vertex);
  Result<bool> HasEdge(std::uint64_t from, std::uint64_t to);
  // Errors if the vertex or the edge does not exist.
  Result<std::vector<std::byte>> VertexProperties(std::uint64_t vertex);
  Result<EdgeData> Edge(std::uint64_t from, std::uint64_t to);
  Result<std::uint64_t> Degree(std::uint64_t vertex, EdgeSide side = EdgeSide::kOutgoing);
  // In ascending order of ids.
  Result<std::vector<std::uint64_t>> Neighbours(std::uint64_t vertex,
                                                EdgeSide side = EdgeSide::kOutgoing);
  Result<std::vector<StoredNeighbour>> NeighboursWithData(std::uint64_t vertex,
                                                          const NeighbourChoice& choice = {});
  // The vertices whose value in this index of the store (CreateOptions::indexes) is in the range,
  // both ends included, in ascending order of ids. A long double has every 64-bit number exactly.
  Result<std::vector<std::uint64_t>> FindVertices(const std::string& index, long double first,
                                                  long double last);

 protected:
  internal::StoreOperations& operations_;
};

class WriteTransaction : public ReadTransaction {
 public:
  using ReadTransaction::ReadTransaction;

  // False: the vertex exists already, and keeps its properties.
  Result<bool> AddVertex(std::uint64_t vertex, std::span<const std::byte> properties = {});
  // An error if the vertex does not exist.
  Status SetVertex(std::uint64_t vertex, std::span<const std::byte> properties);
  // Removes its edges too. False: there is no such vertex.
  Result<bool> RemoveVertex(std::uint64_t vertex);

  // Adds the edge, or replaces its data. An error if one of the vertices does not exist.
  Status AddEdge(std::uint64_t from, std::uint64_t to, const EdgeData& data = {});
  // False: there is no such edge.
  Result<bool> RemoveEdge(std::uint64_t from, std::uint64_t to);
};

}  // namespace slimgraph
