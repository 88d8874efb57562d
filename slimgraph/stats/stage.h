// Names for the phases of a run ("load", "fetch", "update"), so that traffic and time can be
// reported per phase. A stage has the same number in all threads of a process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slimgraph {

using StageId = std::uint16_t;
constexpr std::size_t kMaxStages = 32;
constexpr StageId kUnnamedStage = 0;

// The number of the stage `name`, which is registered at its first use. Thread-safe.
StageId StageNamed(std::string_view name);
std::vector<std::string> StageNames();

}  // namespace slimgraph
