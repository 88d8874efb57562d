// Writes results to standard output, and shows the progress of commands that do not run as a job.
#pragma once

#include <string_view>

#include "slimgraph/base/progress_hook.h"
#include "slimgraph/base/result.h"

namespace slimgraph {

// Writes all of `text` to standard output and flushes it.
Status WriteResult(std::string_view text);

// Returns false if WriteResult() has been called. Otherwise all calls from now on block for ever,
// so nothing will have been written when this process ends or becomes another program.
bool PreventResults();

// Calls WriteResult(). Returns `code`, or the error's exit code if writing failed.
int Print(std::string_view text, int code = 0);

// Shows a progress line about `what` if standard error is a terminal.
ProgressHook ShowProgress(const char* what);

// Prints the object {…, "error": {"kind", "exit_code", "message"}} for a line about a failure, on
// standard output, unless a result or a part of one is there. The hook of WriteLastLine() if --json
// is given.
void PrintFailureObject(int exit_code, std::string_view line);

}  // namespace slimgraph
