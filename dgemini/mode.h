// How steps are made: always by pushing, always by pulling, or as the frontier suggests.
#pragma once

namespace slimgraph {

enum class Mode { kPush, kPull, kAuto };

}  // namespace slimgraph
