// The commands on stores: graphs on disk that can be updated.
#pragma once

#include "apps/command.h"

namespace slimgraph {

Command StoreCreateCommand();
Command StoreApplyCommand();
Command StoreExportCommand();

}  // namespace slimgraph
