// The line by which a process tells why it ends. Whoever prints one for a job, prints it here.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slimgraph {

// Called with the exit code and the line after a line about a failure has been printed, for example
// to tell it to programs, too. Set it before other threads start.
using FailureHook = std::function<void(int exit_code, std::string_view line)>;
void SetFailureHook(FailureHook hook);

// Writes the line to standard error. If it is about a failure, calls the hook.
void WriteLastLine(int exit_code, const std::string& line);

}  // namespace slimgraph
