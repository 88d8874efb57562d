// What the studies of transactions share.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "experiment/studies/support.h"

namespace slimgraph::experiment {

constexpr std::array<const char*, 6> kProtocols = {"nowait", "waitdie", "occ",
                                                   "mvcc",   "sundial", "calvin"};

// Transactions run on two nodes, over a network that the settings may name; seconds of each run.
constexpr NodeId kTxnNodes = 2;
std::string TxnSeconds(const Settings& settings);
Settings TxnSettings(const Settings& settings);

// `txn COMMAND` of that workload and protocol.
Point TxnPoint(const Settings& settings, const std::string& command, const std::string& workload,
               const std::string& protocol, std::vector<std::string> more);

}  // namespace slimgraph::experiment
