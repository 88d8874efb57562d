#include "txnlayer/replay/replay.h"

#include "txnlayer/replay/internal/machine.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint32_t kMostCores = 65'536;
constexpr std::uint32_t kMostCopies = 65'536;
constexpr double kMostSeconds = 3600;

}  // namespace

Status CheckReplayOptions(const ReplayOptions& options) {
  if (options.cores < 2 || options.cores % 2 != 0 || options.cores > kMostCores) {
    return UsageError(
        "--cores {}: an even number up to {}; half of them run servers, and half transactions",
        options.cores, kMostCores);
  }
  if (options.cores_per_node < 2 || options.cores_per_node % 2 != 0) {
    return UsageError("--cores-per-node {}: an even number", options.cores_per_node);
  }
  if (options.copies == 0 || options.copies > kMostCopies) {
    return UsageError("--copies {}: from 1 to {}", options.copies, kMostCopies);
  }
  if (!(options.seconds > 0) || options.seconds > kMostSeconds) {
    return UsageError("--seconds {}: a simulated time up to {} s", options.seconds, kMostSeconds);
  }
  // Otherwise time would not pass.
  if (options.costs.server_ns == 0 || options.costs.row_ns == 0) {
    return UsageError("--server-ns and --row-ns must be at least 1");
  }
  const bool by_timestamps = options.protocol == ReplayProtocol::kTimestampOrder;
  if (by_timestamps && options.plan.escalate != 0) {
    return UsageError("--escalate is for locks; timestamp ordering has none");
  }
  if (options.plan.escalate != 0 && !options.plan.intentions) {
    return UsageError(
        "--escalate needs intention locks: without them, a lock on a part of a table does not "
        "exclude locks on its rows");
  }
  return {};
}

Result<ReplayResult> Replay(const AccessTrace& trace, const ReplayOptions& options) {
  SLIM_TRY(CheckReplayOptions(options));
  std::vector<bool> has_some(trace.partitions);
  for (const TracedTransaction& traced : trace.transactions) has_some[traced.partition] = true;
  for (std::uint32_t partition = 0; partition < trace.partitions; ++partition) {
    if (has_some[partition]) continue;
    return InputError("the trace has no transaction for partition {}: record more than {}",
                      partition, trace.transactions.size());
  }
  return Machine(trace, options).Run();
}

}  // namespace slimgraph::txn
