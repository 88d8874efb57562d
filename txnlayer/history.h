// What transactions did, as lines of JSON in real-time order, for checkers that know nothing of how
// they did it: list-append histories in the form of Jepsen's Elle.
//
//   {"index":0,"type":"invoke","process":0,"value":[["r",1,null],["append",2,7]]}
//   {"index":1,"type":"ok","process":0,"value":[["r",1,[3,5]],["append",2,7]]}
//
// "fail" is a certain abort. Events are ordered by the clock of the machine, which its nodes share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/cluster/collectives.h"

namespace slimgraph::txn {

struct ListOperation {
  std::uint64_t key = 0;
  bool append = false;
  std::uint32_t value = 0;                              // appended
  std::optional<std::vector<std::uint32_t>> read = {};  // what a read found; none: not known yet
};

enum class EventType : std::uint8_t { kInvoke, kOk, kFail };

// The events of one node; one thread at a time adds to it.
class History {
 public:
  void Add(EventType type, std::uint64_t process, const std::vector<ListOperation>& operations);
  void Append(const History& other);

  // Collective: the lines of all nodes, in order, on member 0; empty on the others.
  Result<std::vector<std::string>> Gather(Collectives& all) const;

 private:
  struct Event {
    std::uint64_t time_ns;
    EventType type;
    std::string text;  // after the index
  };
  std::vector<Event> events_;
};

}  // namespace slimgraph::txn
