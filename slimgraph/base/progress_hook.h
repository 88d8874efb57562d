// How long-running work reports its progress. The caller of the work decides what to show.
#pragma once

#include <cstdint>
#include <functional>

namespace slimgraph {

// May be called from any thread, but never by two at once. An empty hook is never called.
using ProgressHook = std::function<void(std::uint64_t done, std::uint64_t total)>;

}  // namespace slimgraph
