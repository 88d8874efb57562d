// `slimgraph doctor`.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command DoctorCommand();

}  // namespace slimgraph
