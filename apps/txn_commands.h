// `slimgraph txn …`.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command TxnRunCommand();

}  // namespace slimgraph
