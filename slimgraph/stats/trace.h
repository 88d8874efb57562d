// Records what each thread of each node does at what time, for a timeline of a run (--trace FILE).
// When it is off, it costs one load of a flag. When it is on, each thread writes to its own list.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

struct TraceEvent {
  std::string name;
  NodeId node = 0;
  std::uint32_t thread = 0;
  std::uint64_t start_ns = 0;  // since StartTrace()
  std::uint64_t duration_ns = 0;
};

// From now on, the TraceSpans of this process are recorded. All nodes must call this at about the
// same moment, which becomes time 0 of the timeline.
void StartTrace();
bool TraceIsOn();

// Ends the trace and returns the events of this process's threads. These must not record meanwhile.
std::vector<TraceEvent> TakeTrace(NodeId node);

// Records its lifetime as one event, in the row of `thread`. `name` must outlive the trace.
class TraceSpan {
 public:
  TraceSpan(const char* name, std::uint32_t thread)
      : name_(name), thread_(thread), start_ns_(TraceIsOn() ? NowNs() : 0) {}
  ~TraceSpan() {
    if (start_ns_ != 0) Record();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  void Record() const;

  const char* name_;
  std::uint32_t thread_;
  std::uint64_t start_ns_;
};

std::string PackTrace(const std::vector<TraceEvent>& events);
void UnpackTrace(std::string_view packed, std::vector<TraceEvent>& events);

std::string ToChromeTrace(const std::vector<TraceEvent>& events);

// Calls `name_row` once for each node (with kWholeNode) and once for each thread in `events`.
constexpr std::uint32_t kWholeNode = ~std::uint32_t{0};
void NameRows(const std::vector<TraceEvent>& events,
              const std::function<void(NodeId, std::uint32_t, const std::string&)>& name_row);

}  // namespace slimgraph
