// Confinement of a process that works for somebody whom its user does not trust.
#pragma once

#include <string>

#include "slimgraph/base/result.h"

namespace slimgraph {

// Whether this system can confine: Linux 5.13 or newer, with Landlock switched on.
bool CanConfine();

// From here on, this thread, the threads and processes that it starts, and theirs open no file by
// name, except for reading `file`, if it is there, and what describes the machine and themselves
// (/proc, /sys). They start no program, and have no powers of root. They cannot look into processes
// that are not confined with them, nor send them signals (from Linux 6.12 on). What is open stays
// open. There is no way back. Call it before threads start.
Status Confine(const std::string& file);

}  // namespace slimgraph
