// What commands that are no jobs do with their results and their progress.
#pragma once

#include <string>

#include "slimgraph/base/progress_hook.h"

namespace slimgraph {

// To standard output; the exit code.
int Print(const std::string& text);

// A progress line of `what`, on a terminal.
ProgressHook ShowProgress(const char* what);

}  // namespace slimgraph
