#include "tests/support/list_append_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>

namespace slimgraph::test {
namespace {

using List = std::vector<std::uint64_t>;

struct Operation {
  bool append = false;
  std::uint64_t key = 0;
  std::uint64_t value = 0;   // the appended value
  std::optional<List> read;  // the list that was read
};

struct Event {
  std::string type;
  std::uint64_t process = 0;
  std::vector<Operation> operations;
};

struct Transaction {
  std::size_t begin = 0;  // positions of its events in the history
  std::size_t end = 0;
  Event last;
};

// Parses a line of a history; all have the same form.
class Line {
 public:
  explicit Line(const std::string& text) : text_(text) {}

  Event Parse() {
    Event event;
    After("\"type\":\"");
    const std::size_t end = text_.find('"', at_);
    event.type = text_.substr(at_, end - at_);
    After("\"process\":");
    event.process = Number();
    After("\"value\":[");
    while (text_[at_] == '[') {
      ++at_;
      Operation operation;
      operation.append = Skip("\"append\",");
      if (!operation.append && !Skip("\"r\",")) Broken();
      operation.key = Number();
      if (!Skip(",")) Broken();
      if (operation.append) {
        operation.value = Number();
      } else if (!Skip("null")) {
        operation.read = Numbers();
      }
      if (!Skip("]")) Broken();
      Skip(",");
      event.operations.push_back(std::move(operation));
    }
    return event;
  }

 private:
  [[noreturn]] void Broken() const { throw std::runtime_error("not a history: " + text_); }
  void After(const std::string& mark) {
    at_ = text_.find(mark, at_);
    if (at_ == std::string::npos) Broken();
    at_ += mark.size();
  }
  bool Skip(const std::string& word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  std::uint64_t Number() {
    std::size_t used = 0;
    const std::uint64_t number = std::stoull(text_.substr(at_, 20), &used);
    at_ += used;
    return number;
  }
  List Numbers() {
    List numbers;
    if (!Skip("[")) Broken();
    while (!Skip("]")) {
      numbers.push_back(Number());
      Skip(",");
    }
    return numbers;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

class Checker {
 public:
  explicit Checker(const std::vector<std::string>& lines) {
    std::map<std::uint64_t, std::size_t> begun;  // by process
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Event event = Line(lines[i]).Parse();
      if (event.type == "invoke") {
        if (!begun.emplace(event.process, i).second)
          throw std::runtime_error("a process begins a transaction before its last one has ended");
        continue;
      }
      const auto begin = begun.extract(event.process);
      if (begin.empty()) throw std::runtime_error("a transaction ends that has not begun");
      transactions_.push_back({begin.mapped(), i, std::move(event)});
    }
  }

  std::string Check(Level level) {
    level_ = level;
    FindWriters();
    OrderVersions();
    if (wrong_.empty()) CheckInside();
    if (wrong_.empty()) LinkData();
    if (wrong_.empty() && level != Level::kSerializable) LinkTime();
    if (wrong_.empty()) FindCycle();
    return wrong_;
  }

 private:
  struct Writer {
    std::size_t transaction = 0;
    bool last = false;  // the transaction's last append to this list
  };

  void PrintError(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  bool Committed(std::size_t t) const { return transactions_[t].last.type == "ok"; }

  void FindWriters() {
    for (std::size_t t = 0; t < transactions_.size(); ++t) {
      std::map<std::uint64_t, std::uint64_t> last;
      for (const Operation& operation : transactions_[t].last.operations) {
        if (!operation.append) continue;
        if (!writers_.emplace(std::pair(operation.key, operation.value), Writer{t, false}).second) {
          PrintError(fmt::format("value {} was appended twice to list {}", operation.value,
                                 operation.key));
        }
        last[operation.key] = operation.value;
      }
      for (const auto& [key, value] : last) writers_[{key, value}].last = true;
    }
  }

  // The versions of each list are the values of its longest read; all other reads must be prefixes
  // of it.
  void OrderVersions() {
    for (std::size_t t = 0; t < transactions_.size(); ++t) {
      if (!Committed(t)) continue;
      for (const Operation& operation : transactions_[t].last.operations) {
        if (operation.append) continue;
        List& longest = versions_[operation.key];
        if (operation.read->size() > longest.size()) longest = *operation.read;
      }
    }
    for (std::size_t t = 0; t < transactions_.size(); ++t) {
      if (!Committed(t)) continue;
      for (const Operation& operation : transactions_[t].last.operations) {
        if (operation.append) continue;
        const List& longest = versions_[operation.key];
        if (!std::equal(operation.read->begin(), operation.read->end(), longest.begin())) {
          PrintError(fmt::format("reads of list {} are not prefixes of one order", operation.key));
        }
      }
    }
    for (const auto& [key, list] : versions_) {
      List sorted = list;
      std::sort(sorted.begin(), sorted.end());
      if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        PrintError(fmt::format("list {} has a value twice", key));
      }
      for (const std::uint64_t value : list) {
        const auto writer = writers_.find({key, value});
        if (writer == writers_.end()) {
          PrintError(
              fmt::format("value {} of list {} was read, and nobody has appended it", value, key));
        } else if (transactions_[writer->second.transaction].last.type == "fail") {
          PrintError(
              fmt::format("value {} of list {} was read, and its writer aborted", value, key));
        }
      }
    }
  }

  // A transaction must see its own appends after the others' values, and the others' transactions
  // completely or not at all.
  void CheckInside() {
    for (std::size_t t = 0; t < transactions_.size(); ++t) {
      if (!Committed(t)) continue;
      std::map<std::uint64_t, List> appended;
      std::map<std::uint64_t, List> seen;  // values appended by others
      for (const Operation& operation : transactions_[t].last.operations) {
        List& own = appended[operation.key];
        if (operation.append) {
          own.push_back(operation.value);
          continue;
        }
        List found = *operation.read;
        if (found.size() < own.size() || !std::equal(own.rbegin(), own.rend(), found.rbegin())) {
          PrintError(
              fmt::format("a transaction does not see its own append to list {}", operation.key));
          return;
        }
        found.resize(found.size() - own.size());
        const auto before = seen.emplace(operation.key, found);
        if (!before.second && before.first->second != found) {
          if (level_ != Level::kReadCommitted) {
            PrintError(fmt::format("a transaction reads two different versions of list {}",
                                   operation.key));
          } else if (found.size() > before.first->second.size()) {
            before.first->second = found;  // the later one has the stronger dependency
          }
        }
        if (!found.empty() && !writers_.at({operation.key, found.back()}).last) {
          PrintError(
              fmt::format("a read of list {} has found part of a transaction", operation.key));
        }
      }
      for (auto& [key, found] : seen) external_.push_back({t, key, std::move(found)});
    }
  }

  void Link(std::size_t from, std::size_t to) {
    if (from == to) return;
    if (from >= edges_.size()) edges_.resize(from + 1);
    edges_[from].push_back(to);
  }

  void LinkData() {
    std::map<std::uint64_t, std::vector<std::size_t>> unseen;  // writers of unread values
    for (const auto& [what, writer] : writers_) {
      const auto& [key, value] = what;
      const List& list = versions_[key];
      if (!Committed(writer.transaction)) continue;
      if (std::find(list.begin(), list.end(), value) == list.end()) {
        unseen[key].push_back(writer.transaction);
      }
    }
    const auto writer_of = [&](std::uint64_t key, std::uint64_t value) {
      return writers_.at({key, value}).transaction;
    };
    for (const auto& [key, list] : versions_) {
      for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        Link(writer_of(key, list[i]), writer_of(key, list[i + 1]));
      }
      if (list.empty()) continue;
      for (const std::size_t t : unseen[key]) Link(writer_of(key, list.back()), t);
    }
    for (const auto& [t, key, found] : external_) {
      const List& list = versions_[key];
      if (!found.empty()) Link(writer_of(key, found.back()), t);
      if (level_ == Level::kReadCommitted) continue;
      if (level_ == Level::kRepeatableRead && found.empty()) continue;
      if (found.size() < list.size()) {
        Link(t, writer_of(key, list[found.size()]));
      } else {
        for (const std::size_t writer : unseen[key]) Link(t, writer);
      }
    }
  }

  // Real-time edges go through a chain of moments, one for the end of each transaction, so that
  // their number stays linear.
  void LinkTime() {
    std::vector<std::pair<std::size_t, std::size_t>> events;  // (position, transaction)
    for (std::size_t t = 0; t < transactions_.size(); ++t) {
      if (!Committed(t)) continue;
      events.emplace_back(transactions_[t].begin, t);
      events.emplace_back(transactions_[t].end, t);
    }
    std::sort(events.begin(), events.end());
    std::size_t moment = transactions_.size();
    std::optional<std::size_t> last;
    for (const auto& [place, t] : events) {
      if (place == transactions_[t].begin) {
        if (last) Link(*last, t);
        continue;
      }
      if (last) Link(*last, moment);
      Link(t, moment);
      last = moment++;
    }
  }

  // Repeatedly removes vertices without incoming edges. If any vertices remain, they contain a
  // cycle.
  void FindCycle() {
    std::size_t vertices = std::max(edges_.size(), transactions_.size());
    for (const auto& targets : edges_) {
      for (const std::size_t target : targets) vertices = std::max(vertices, target + 1);
    }
    edges_.resize(vertices);
    std::vector<std::size_t> incoming(vertices);
    for (const auto& targets : edges_) {
      for (const std::size_t target : targets) ++incoming[target];
    }
    std::vector<std::size_t> free;
    for (std::size_t v = 0; v < vertices; ++v) {
      if (incoming[v] == 0) free.push_back(v);
    }
    std::size_t removed = 0;
    while (!free.empty()) {
      const std::size_t v = free.back();
      free.pop_back();
      ++removed;
      for (const std::size_t target : edges_[v]) {
        if (--incoming[target] == 0) free.push_back(target);
      }
    }
    if (removed < vertices) {
      PrintError(fmt::format("there is a cycle: {} of {} transactions and moments depend on it",
                             vertices - removed, vertices));
    }
  }

  struct ExternalRead {
    std::size_t transaction;
    std::uint64_t key;
    List found;
  };

  std::vector<Transaction> transactions_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Writer> writers_;  // of (list, value)
  std::map<std::uint64_t, List> versions_;
  std::vector<ExternalRead> external_;
  std::vector<std::vector<std::size_t>> edges_;
  std::string wrong_;
  Level level_ = Level::kSerializable;
};

}  // namespace

std::string CheckListAppend(const std::vector<std::string>& lines, Level level) {
  try {
    return Checker(lines).Check(level);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace slimgraph::test
