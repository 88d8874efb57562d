#include "txnlayer/history.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn {
namespace {

struct PackedEvent {
  std::uint64_t time_ns;
  std::uint64_t process;
  std::uint32_t bytes;
  std::uint32_t type;
};

constexpr const char* kTypeNames[] = {"invoke", "ok", "fail", "info"};

std::string ToText(const ListOperation& operation) {
  if (operation.append) return fmt::format(R"(["append",{},{}])", operation.key, operation.value);
  if (!operation.read) return fmt::format(R"(["r",{},null])", operation.key);
  std::string values;
  for (const std::uint32_t value : *operation.read) {
    if (!values.empty()) values += ',';
    values += std::to_string(value);
  }
  return fmt::format(R"(["r",{},[{}]])", operation.key, values);
}

}  // namespace

void History::Add(EventType type, std::uint64_t process,
                  const std::vector<ListOperation>& operations) {
  // An invocation is noted before its work, an end after it, so that the true order of events that
  // do not overlap is kept.
  const std::uint64_t now = NowNs();
  std::string value;
  for (const ListOperation& operation : operations) {
    value += (value.empty() ? "" : ",") + ToText(operation);
  }
  events_.push_back({now, type, process, fmt::format(R"("value":[{}]}})", value)});
  if (journal_) {
    journal_->Write(
        fmt::format("{} {} {} {}\n", now, static_cast<int>(type), process, events_.back().text));
  }
}

Result<std::shared_ptr<Journal>> Journal::Create(std::string path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) return InputError("{}: {}", path, std::strerror(errno));
  return std::shared_ptr<Journal>(new Journal(std::move(path), std::move(fd)));
}

Journal::~Journal() { ::unlink(path_.c_str()); }

void Journal::Write(const std::string& line) const {
  static_cast<void>(!::write(fd_.get(), line.data(), line.size()));
}

// What the node has begun last, and not ended, nobody knows the end of.
Status History::ReadJournal(const std::string& path, std::vector<Event>& events) {
  std::ifstream file(path);
  if (!file) return InputError("{}: cannot be read", path);
  std::map<std::uint64_t, Event> open;
  Event event{};
  int type = 0;
  std::string line;
  while (std::getline(file, line) && !file.eof()) {  // a last line without an end is not whole
    std::istringstream words(line);
    words >> event.time_ns >> type >> event.process;
    words.ignore(1);
    std::getline(words, event.text);
    event.type = static_cast<EventType>(type);
    events.push_back(event);
    if (event.type == EventType::kInvoke) {
      open[event.process] = event;
    } else {
      open.erase(event.process);
    }
  }
  const std::uint64_t now = NowNs();
  for (auto& [process, begun] : open) {
    begun.time_ns = now;
    begun.type = EventType::kInfo;
    events.push_back(std::move(begun));
  }
  ::unlink(path.c_str());
  return {};
}

void History::Append(const History& other) {
  events_.insert(events_.end(), other.events_.begin(), other.events_.end());
}

Result<std::vector<std::string>> History::Gather(
    Collectives& all, const std::vector<std::string>& left_journals) const {
  std::vector<std::byte> packed;
  const auto append = [&](const void* bytes, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(bytes);
    packed.insert(packed.end(), first, first + count);
  };
  for (const Event& event : events_) {
    const PackedEvent head{event.time_ns, event.process,
                           static_cast<std::uint32_t>(event.text.size()),
                           static_cast<std::uint32_t>(event.type)};
    append(&head, sizeof head);
    append(event.text.data(), event.text.size());
  }
  SLIM_ASSIGN(const auto parts, all.AllGather(packed));
  if (all.rank() != 0) return std::vector<std::string>();
  std::vector<Event> events;
  for (const auto& part : parts) {
    for (std::size_t at = 0; at < part.size();) {
      PackedEvent head;
      std::memcpy(&head, part.data() + at, sizeof head);
      at += sizeof head;
      events.push_back({head.time_ns,
                        static_cast<EventType>(head.type),
                        head.process,
                        {reinterpret_cast<const char*>(part.data()) + at, head.bytes}});
      at += head.bytes;
    }
  }
  for (const std::string& path : left_journals) SLIM_TRY(ReadJournal(path, events));
  // At the same time: invocations first, which claims least.
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    return a.type == EventType::kInvoke && b.type != EventType::kInvoke;
  });
  std::vector<std::string> lines;
  for (const Event& event : events) {
    lines.push_back(fmt::format(R"({{"index":{},"type":"{}","process":{},{})", lines.size(),
                                kTypeNames[static_cast<int>(event.type)], event.process,
                                event.text));
  }
  return lines;
}

}  // namespace slimgraph::txn
