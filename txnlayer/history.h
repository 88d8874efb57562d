// What transactions did, as lines of JSON in real-time order, for checkers that know nothing of how
// they did it: list-append histories in the form of Jepsen's Elle.
//
//   {"index":0,"type":"invoke","process":0,"value":[["r",1,null],["append",2,7]]}
//   {"index":1,"type":"ok","process":0,"value":[["r",1,[3,5]],["append",2,7]]}
//
// "fail" is a certain abort, "info" an end that nobody knows, of a node that has died; its process
// is not heard of again. Events are ordered by the clock of the machine, which its nodes share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"
#include "slimgraph/cluster/collectives.h"

namespace slimgraph::txn {

struct ListOperation {
  std::uint64_t key = 0;
  bool append = false;
  std::uint32_t value = 0;                              // appended
  std::optional<std::vector<std::uint32_t>> read = {};  // what a read found; none: not known yet
};

enum class EventType : std::uint8_t { kInvoke, kOk, kFail, kInfo };

// A file into which events go at once, so that they outlive the process that notes them.
class Journal {
 public:
  static Result<std::shared_ptr<Journal>> Create(std::string path);
  ~Journal();
  // A line, whole or not at all. From any thread.
  void Write(const std::string& line) const;

 private:
  Journal(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;
};

// The file of a node's journal.
inline std::string JournalOf(const std::string& path, NodeId node) {
  return fmt::format("{}.node{}", path, node);
}

// The events of one node; one thread at a time adds to it.
class History {
 public:
  void SetJournal(std::shared_ptr<Journal> journal) { journal_ = std::move(journal); }
  void Add(EventType type, std::uint64_t process, const std::vector<ListOperation>& operations);
  void Append(const History& other);

  // Collective: the lines of all nodes, in order, on member 0; empty on the others. Member 0 takes
  // over the journals that dead nodes have left.
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
};

}  // namespace slimgraph::txn
