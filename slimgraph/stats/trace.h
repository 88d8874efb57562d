// What each thread of each node did when, for a picture of a run (--trace FILE). Off, it costs one
// look at a flag; on, threads write to lists of their own.
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

// From here on, TraceSpans of this process are kept. To be called on all nodes at about one moment,
// which becomes the zero of the picture.
void StartTrace();
bool TraceIsOn();

// Ends it: what this process's threads have kept. They must be at rest.
std::vector<TraceEvent> TakeTrace(NodeId node);

// Names the calling thread's row.
void SetTraceThread(std::uint32_t thread);

// Its lifetime is one event. `name` must outlive the trace.
class TraceSpan {
 public:
  explicit TraceSpan(const char* name) : name_(name), start_ns_(TraceIsOn() ? NowNs() : 0) {}
  ~TraceSpan() {
    if (start_ns_ != 0) Keep();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  void Keep() const;

  const char* name_;
  std::uint64_t start_ns_;
};

std::string PackTrace(const std::vector<TraceEvent>& events);
void UnpackTrace(std::string_view packed, std::vector<TraceEvent>& events);

std::string ToChromeTrace(const std::vector<TraceEvent>& events);

// Calls `name_row` once for each node (with kWholeNode) and each thread in `events`.
constexpr std::uint32_t kWholeNode = ~std::uint32_t{0};
void NameRows(const std::vector<TraceEvent>& events,
              const std::function<void(NodeId, std::uint32_t, const std::string&)>& name_row);

}  // namespace slimgraph
