// The server of lists on a memory node. A delegate's thread sends its requests to the endpoint of
// the same number. The thread that waits on that endpoint answers them; it sleeps between requests.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "slimgraph/remote/served_lists.h"

namespace slimgraph {

class ListServer {
 public:
  // Create it before any node sends a request.
  explicit ListServer(Fabric& fabric);

  // Adds a part of `count` vertices whose lists are coded by `code`. `lists` must outlive the
  // server.
  void Add(const ServedLists& lists, VertexId count, const ListCode& code);

  // Answers requests, with a thread for each endpoint, until `wait` returns. `wait` must wait on
  // endpoint 0 for the other nodes. No node may send requests at any other time.
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
  HandlerRegistration handler_;
};

}  // namespace slimgraph
