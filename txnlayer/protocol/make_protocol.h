// Makes a protocol by its name.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

std::vector<std::string_view> ProtocolNames();
Result<std::unique_ptr<Protocol>> MakeProtocol(std::string_view name);

}  // namespace slimgraph::txn
