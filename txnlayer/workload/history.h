// Histories of transactions, as lines of JSON in real-time order, for black-box checkers:
// list-append histories in the format of Jepsen's Elle.
//
//   {"index":0,"type":"invoke","process":0,"value":[["r",1,null],["append",2,7]]}
//   {"index":1,"type":"ok","process":0,"value":[["r",1,[3,5]],["append",2,7]]}
//
// "fail" is a certain abort. "info" is an unknown end, on a node that has died; its process has no
// further events. Events are ordered by the clock of the machine, which its nodes share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/output_file.h"
#include "slimgraph/base/result.h"
#include "slimgraph/cluster/collectives.h"

namespace slimgraph::txn {

struct ListOperation {
  std::uint64_t key = 0;
  bool append = false;
  std::uint32_t value = 0;                              // appended
  std::optional<std::vector<std::uint32_t>> read = {};  // what a read found; none: not known yet
};

enum class EventType : std::uint8_t { kInvoke, kOk, kFail, kInfo };

// A file of events that are written at once, so that they outlive the process.
class Journal {
 public:
  static Result<std::shared_ptr<Journal>> Create(std::string path);
  ~Journal();
  // From any thread.
  Status Write(const std::string& line) const;

 private:
  explicit Journal(OutputFile file) : file_(std::move(file)) {}
  OutputFile file_;
};

// The file of a node's journal.
inline std::string JournalOf(const std::string& path, NodeId node) {
  return fmt::format("{}.node{}", path, node);
}

// The events of one node. Only one thread at a time may add to it.
class History {
 public:
  void SetJournal(std::shared_ptr<Journal> journal) { journal_ = std::move(journal); }
  void Add(EventType type, std::uint64_t process, const std::vector<ListOperation>& operations);
  void Append(const History& other);

  // Collective: the lines of all nodes, in order, on member 0; empty on the others. Member 0 also
  // reads and removes the journals of dead nodes. Fails if this node's journal could not be
  // written.
  Result<std::vector<std::string>> Gather(Collectives& all,
                                          const std::vector<std::string>& left_journals = {}) const;

 private:
  struct Event {
    std::uint64_t time_ns;
    EventType type;
    std::uint64_t process;
    std::string text;  // after the index
  };
  static Status ReadJournal(const std::string& path, std::vector<Event>& events);

  std::vector<Event> events_;
  std::shared_ptr<Journal> journal_;
  Status journaled_;
};

}  // namespace slimgraph::txn
