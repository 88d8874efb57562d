// How long work tells how far it is. Whoever starts the work decides what to show.
#pragma once

#include <cstdint>
#include <functional>

namespace slimgraph {

// May be called from any thread, one call at a time; an empty hook is never called.
using ProgressHook = std::function<void(std::uint64_t done, std::uint64_t total)>;

}  // namespace slimgraph
