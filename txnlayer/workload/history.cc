#include "txnlayer/workload/history.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/folders.h"

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
  // An invocation is recorded before its work, and an end after it. So events that do not overlap
  // keep their real-time order.
  const std::uint64_t now = SharedNowNs();
  std::string value;
  for (const ListOperation& operation : operations) {
    value += (value.empty() ? "" : ",") + ToText(operation);
  }
  events_.push_back({now, type, process, fmt::format(R"("value":[{}]}})", value)});
  if (journal_ && journaled_) {
    journaled_ = journal_->Write(
        fmt::format("{} {} {} {}\n", now, static_cast<int>(type), process, events_.back().text));
  }
}

Result<std::shared_ptr<Journal>> Journal::Create(std::string path) {
  auto file = OutputFile::CreateForAppending(std::move(path));
  if (!file) return InputError("{}", file.error().message);
  return std::shared_ptr<Journal>(new Journal(std::move(*file)));
}

Journal::~Journal() { static_cast<void>(RemoveFile(file_.path())); }

Status Journal::Write(const std::string& line) const {
  return file_.Append(std::as_bytes(std::span(line)));
}

// The end of an invocation without a matching end in the journal is unknown.
Status History::ReadJournal(const std::string& path, std::vector<Event>& events) {
  std::ifstream file(path);
  if (!file) return InputError("{}: cannot be read", path);
  std::map<std::uint64_t, Event> open;
  Event event{};
  int type = 0;
  std::string line;
  while (std::getline(file, line) && !file.eof()) {  // a last line without a newline is not whole
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
  const std::uint64_t now = SharedNowNs();
  for (auto& [process, begun] : open) {
    begun.time_ns = now;
    begun.type = EventType::kInfo;
    events.push_back(std::move(begun));
  }
  SLIM_TRY(RemoveFile(path));
  return {};
}

void History::Append(const History& other) {
  events_.insert(events_.end(), other.events_.begin(), other.events_.end());
  if (journaled_) journaled_ = other.journaled_;
}

Result<std::vector<std::string>> History::Gather(
    Collectives& all, const std::vector<std::string>& left_journals) const {
  SLIM_TRY(journaled_);
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
  // At equal times invocations come first, as that claims the least about the order.
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
