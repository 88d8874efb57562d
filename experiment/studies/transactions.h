// Shared by the studies of transactions.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "experiment/studies/support.h"

namespace slimgraph::experiment {

constexpr std::array<const char*, 6> kProtocols = {"nowait", "waitdie", "occ",
                                                   "mvcc",   "sundial", "calvin"};

// The studies of transactions run on two nodes; TxnSeconds gives the length of a run.
constexpr NodeId kTxnNodes = 2;
std::string TxnSeconds(const Settings& settings);
Settings TxnSettings(const Settings& settings);

// The point `txn COMMAND` for this workload and protocol.
Point TxnPoint(const Settings& settings, const std::string& command, const std::string& workload,
               const std::string& protocol, std::vector<std::string> more);

}  // namespace slimgraph::experiment
