#include "slimgraph/stats/trace.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <set>

#include "slimgraph/base/sync.h"

namespace slimgraph {
namespace {

struct Span {
  const char* name;
  std::uint32_t thread;
  std::uint64_t start_ns;
  std::uint64_t end_ns;
};

using Spans = std::vector<Span>;

std::atomic<std::uint64_t> zero_ns{0};
Mutex spans_mutex;
std::vector<std::unique_ptr<Spans>> all_threads;

// `all_threads` owns the list, so a thread's events survive the thread.
Spans& OwnSpans() {
  thread_local Spans* own = nullptr;
  if (own == nullptr) {
    const std::lock_guard lock(spans_mutex);
    own = all_threads.emplace_back(std::make_unique<Spans>()).get();
  }
  return *own;
}

}  // namespace

void StartTrace() { zero_ns = NowNs(); }

bool TraceIsOn() { return zero_ns.load(std::memory_order_relaxed) != 0; }

void TraceSpan::Record() const { OwnSpans().push_back({name_, thread_, start_ns_, NowNs()}); }

std::vector<TraceEvent> TakeTrace(NodeId node) {
  const std::lock_guard lock(spans_mutex);
  const std::uint64_t zero = zero_ns.exchange(0);
  std::vector<TraceEvent> events;
  for (const auto& spans : all_threads) {
    for (const Span& span : *spans) {
      const std::uint64_t start_ns = span.start_ns < zero ? 0 : span.start_ns - zero;
      events.push_back({span.name, node, span.thread, start_ns, span.end_ns - span.start_ns});
    }
    spans->clear();
  }
  return events;
}

std::string PackTrace(const std::vector<TraceEvent>& events) {
  std::string packed;
  for (const TraceEvent& event : events) {
    const std::uint64_t numbers[] = {event.node, event.thread, event.start_ns, event.duration_ns,
                                     event.name.size()};
    packed.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    packed += event.name;
  }
  return packed;
}

void UnpackTrace(std::string_view packed, std::vector<TraceEvent>& events) {
  while (!packed.empty()) {
    std::uint64_t numbers[5];
    std::memcpy(numbers, packed.data(), sizeof numbers);
    packed.remove_prefix(sizeof numbers);
    events.push_back({std::string(packed.substr(0, numbers[4])), static_cast<NodeId>(numbers[0]),
                      static_cast<std::uint32_t>(numbers[1]), numbers[2], numbers[3]});
    packed.remove_prefix(numbers[4]);
  }
}

void NameRows(const std::vector<TraceEvent>& events,
              const std::function<void(NodeId, std::uint32_t, const std::string&)>& name_row) {
  std::set<std::pair<NodeId, std::uint32_t>> rows;
  for (const TraceEvent& event : events) {
    rows.emplace(event.node, kWholeNode);
    rows.emplace(event.node, event.thread);
  }
  for (const auto& [node, thread] : rows) {
    name_row(
        node, thread,
        thread == kWholeNode ? fmt::format("node {}", node) : fmt::format("thread {}", thread));
  }
}

}  // namespace slimgraph
