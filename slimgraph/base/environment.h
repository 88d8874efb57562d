// The environment variables that SlimGraph reads, all named SLIMGRAPH_…. A variable with that
// prefix that is not listed here is reported as misspelt.
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

// One message for each SLIMGRAPH_ variable of this process's environment that nothing reads. A
// message suggests the most similar known name.
std::vector<std::string> UnknownVariables();

// The same for any list of "NAME=value".
std::vector<std::string> UnknownVariables(std::span<const std::string> environment);

}  // namespace slimgraph
