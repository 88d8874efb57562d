#include "txnlayer/protocol/make_protocol.h"

#include <algorithm>

#include "txnlayer/protocol/internal/calvin.h"
#include "txnlayer/protocol/internal/locking.h"
#include "txnlayer/protocol/internal/mvcc.h"
#include "txnlayer/protocol/internal/occ.h"
#include "txnlayer/protocol/internal/sundial.h"
#include "txnlayer/protocol/internal/timestamp_order.h"

namespace slimgraph::txn {
namespace {

std::vector<std::unique_ptr<Protocol>> AllProtocols(const ProtocolOptions& options) {
  const Isolation isolation = options.isolation;
  const Timestamps times = options.timestamps;
  std::vector<std::unique_ptr<Protocol>> all;
  all.push_back(std::make_unique<NoWait>(isolation, times));
  all.push_back(std::make_unique<WaitDie>(isolation, times));
  all.push_back(std::make_unique<BoundedWait>(isolation, times, options.lock_timeout_ns));
  all.push_back(std::make_unique<Occ>(times));
  all.push_back(std::make_unique<TimestampOrder>());
  all.push_back(std::make_unique<Mvcc>(times == Timestamps::kDst ? times : Timestamps::kNone));
  all.push_back(std::make_unique<Sundial>());
  all.push_back(std::make_unique<Calvin>());
  return all;
}

}  // namespace

std::vector<std::string_view> ProtocolNames() {
  std::vector<std::string_view> names;
  for (const auto& protocol : AllProtocols({})) names.push_back(protocol->name());
  return names;
}

Result<std::unique_ptr<Protocol>> MakeProtocol(std::string_view name,
                                               const ProtocolOptions& options) {
  std::string names;
  std::string with_levels;
  const bool timed = options.timestamps != Timestamps::kNone;
  if (timed && options.isolation != Isolation::kSerializable) {
    return UsageError("--timestamps {} needs --isolation serializable, not {}",
                      TimestampsName(options.timestamps), IsolationName(options.isolation));
  }
  for (auto& protocol : AllProtocols(options)) {
    if (timed && protocol->name() == name && protocol->shape().timestamps != options.timestamps) {
      return UsageError("--timestamps {} needs nowait, waitdie, boundedwait{}; not {}",
                        TimestampsName(options.timestamps),
                        options.timestamps == Timestamps::kDst ? ", occ or mvcc" : " or occ", name);
    }
    const bool has_level = protocol->isolation() == options.isolation;
    if (has_level && protocol->name() == name) return std::move(protocol);
    if (has_level) with_levels += (with_levels.empty() ? "" : ", ") + std::string(protocol->name());
    names += (names.empty() ? "" : ", ") + std::string(protocol->name());
  }
  const auto all = ProtocolNames();
  if (std::find(all.begin(), all.end(), name) != all.end()) {
    return UsageError("--isolation {} needs a protocol with locks, {}; not {}",
                      IsolationName(options.isolation), with_levels, name);
  }
  return UsageError("--protocol '{}' is unknown; there are {}", name, names);
}

const char* IsolationName(Isolation isolation) {
  constexpr const char* kNames[] = {"serializable", "repeatable-read", "read-committed"};
  return kNames[static_cast<std::size_t>(isolation)];
}

const char* TimestampsName(Timestamps timestamps) {
  constexpr const char* kNames[] = {"none", "dst", "global", "vector"};
  return kNames[static_cast<std::size_t>(timestamps)];
}

}  // namespace slimgraph::txn
