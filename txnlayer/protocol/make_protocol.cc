#include "txnlayer/protocol/make_protocol.h"

#include "txnlayer/protocol/internal/calvin.h"
#include "txnlayer/protocol/internal/locking.h"
#include "txnlayer/protocol/internal/mvcc.h"
#include "txnlayer/protocol/internal/occ.h"
#include "txnlayer/protocol/internal/sundial.h"

namespace slimgraph::txn {
namespace {

std::vector<std::unique_ptr<Protocol>> AllProtocols() {
  std::vector<std::unique_ptr<Protocol>> all;
  all.push_back(std::make_unique<NoWait>());
  all.push_back(std::make_unique<WaitDie>());
  all.push_back(std::make_unique<Occ>());
  all.push_back(std::make_unique<Mvcc>());
  all.push_back(std::make_unique<Sundial>());
  all.push_back(std::make_unique<Calvin>());
  return all;
}

}  // namespace

std::vector<std::string_view> ProtocolNames() {
  std::vector<std::string_view> names;
  for (const auto& protocol : AllProtocols()) names.push_back(protocol->name());
  return names;
}

Result<std::unique_ptr<Protocol>> MakeProtocol(std::string_view name) {
  std::string names;
  for (auto& protocol : AllProtocols()) {
    if (protocol->name() == name) return std::move(protocol);
    names += (names.empty() ? "" : ", ") + std::string(protocol->name());
  }
  return UsageError("--protocol '{}' is unknown; there are {}", name, names);
}

}  // namespace slimgraph::txn
