// `slimgraph txn …`.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command TxnRunCommand();
Command TxnSweepCommand();
Command TxnChooseCommand();

}  // namespace slimgraph
