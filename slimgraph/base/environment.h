// The environment variables that SlimGraph reads, all named SLIMGRAPH_…, so that a misspelt one
// can be told from a known one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slimgraph {

struct KnownVariable {
  std::string_view name;
  std::string_view meaning;
};

std::span<const KnownVariable> KnownVariables();

// A line for each SLIMGRAPH_ variable of this process's environment that nothing reads, with the
// known name that looks most like it.
std::vector<std::string> UnknownVariables();

// The same for any list of "NAME=value".
std::vector<std::string> UnknownVariables(std::span<const std::string> environment);

}  // namespace slimgraph
