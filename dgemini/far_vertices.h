// Vertices of the share whose turn has not come: their distance is beyond a limit.
#pragma once

#include <cmath>
#include <vector>

#include "dgemini/frontier.h"
#include "dgemini/vertex_array.h"

namespace slimgraph {

template <typename Distance>
class FarVertices {
 public:
  explicit FarVertices(const VertexArray<Distance>& distance)
      : distance_(distance), far_(static_cast<VertexId>(distance.size())) {}

  // Takes those at `limit` and beyond out of the list.
  void TakeFrom(Frontier& frontier, Distance limit) {
    std::erase_if(frontier.list(), [&](VertexId v) {
      if (distance_[v] < limit) return false;
      frontier.Remove(v);
      if (far_.Add(v)) far_.list().push_back(v);
      return true;
    });
  }
  // The least distance from `limit` on; those before it have come nearer, and had their turn.
  double Nearest(Distance limit) const {
    double nearest = INFINITY;
    for (const VertexId v : far_.list()) {
      if (distance_[v] >= limit) nearest = std::min(nearest, static_cast<double>(distance_[v]));
    }
    return nearest;
  }
  // Gives back those of first .. limit, and forgets those before.
  void GiveTo(Frontier& frontier, Distance first, Distance limit) {
    std::erase_if(far_.list(), [&](VertexId v) {
      if (distance_[v] >= limit) return false;
      far_.Remove(v);
      if (distance_[v] >= first && frontier.Add(v)) frontier.list().push_back(v);
      return true;
    });
  }

 private:
  const VertexArray<Distance>& distance_;
  Frontier far_;
};

}  // namespace slimgraph
