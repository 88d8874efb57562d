// Which command or option a user may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/command.h"

namespace slimgraph {

// For the end of an error: " (did you mean cc or bc?)", or "" if no command is like `word`. A
// command is like it if their names differ by a letter or two, or if its name, aliases or summary
// contain it.
std::string SuggestCommands(std::string_view word, const std::vector<Command>& commands);

// The same for options, as "--name". An option is like the word if they differ by a letter or two,
// or if it begins with the word.
std::string SuggestOptions(std::string_view word, const std::vector<std::string>& options);

}  // namespace slimgraph
