// Whether steps always push, always pull, or choose by the frontier.
#pragma once

namespace slimgraph {

enum class Mode { kPush, kPull, kAuto };

}  // namespace slimgraph
