// A memory node's side of lists by request. Requests of a delegate's thread go to the endpoint of
// the same number, and are answered by whichever thread waits there: it sleeps when nobody asks.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "slimgraph/remote/served_lists.h"

namespace slimgraph {

class ListServer {
 public:
  // Before anything is asked for.
  explicit ListServer(Fabric& fabric);

  // Of `count` vertices of a graph whose lists `code` codes; `lists` outlives the server.
  void Add(const ServedLists& lists, VertexId count, const ListCode& code);

  // Answers on the threads of all endpoints while `wait`, which waits on endpoint 0 for what the
  // others do, goes on. Nothing is asked for at another time.
  Status ServeWhile(const std::function<Status()>& wait);

 private:
  struct Part {
    const ServedLists* lists;
    VertexId count;
    ListCode code;
  };
  void Answer(Endpoint& endpoint, const Message& message);

  Fabric& fabric_;
  std::map<RegionId, Part> parts_;  // by the region of the lists
};

}  // namespace slimgraph
