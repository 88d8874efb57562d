#include "txnlayer/history.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn {
namespace {

struct PackedEvent {
  std::uint64_t time_ns;
  std::uint32_t bytes;
  std::uint32_t type;
};

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
  constexpr const char* kNames[] = {"invoke", "ok", "fail"};
  std::string value;
  for (const ListOperation& operation : operations) {
    value += (value.empty() ? "" : ",") + ToText(operation);
  }
  events_.push_back({now, type,
                     fmt::format(R"("type":"{}","process":{},"value":[{}]}})",
                                 kNames[static_cast<int>(type)], process, value)});
}

void History::Append(const History& other) {
  events_.insert(events_.end(), other.events_.begin(), other.events_.end());
}

Result<std::vector<std::string>> History::Gather(Collectives& all) const {
  std::vector<std::byte> packed;
  const auto append = [&](const void* bytes, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(bytes);
    packed.insert(packed.end(), first, first + count);
  };
  for (const Event& event : events_) {
    const PackedEvent head{event.time_ns, static_cast<std::uint32_t>(event.text.size()),
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
                        {reinterpret_cast<const char*>(part.data()) + at, head.bytes}});
      at += head.bytes;
    }
  }
  // At the same time: invocations first, which claims least.
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    return a.type == EventType::kInvoke && b.type != EventType::kInvoke;
  });
  std::vector<std::string> lines;
  for (const Event& event : events) {
    lines.push_back(fmt::format(R"({{"index":{},{})", lines.size(), event.text));
  }
  return lines;
}

}  // namespace slimgraph::txn
