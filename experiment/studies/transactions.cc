#include "experiment/studies/transactions.h"

namespace slimgraph::experiment {

std::string TxnSeconds(const Settings& settings) { return settings.small ? "0.02" : "0.3"; }

Settings TxnSettings(const Settings& settings) {
  Settings own = settings;
  own.node_memory = 0;  // the size of their tables is fixed
  own.nodes = kTxnNodes;
  return own;
}

Point TxnPoint(const Settings& settings, const std::string& command, const std::string& workload,
               const std::string& protocol, std::vector<std::string> more) {
  std::vector<std::string> words = {"txn",        command,  "--workload", workload,
                                    "--protocol", protocol, "--seconds",  TxnSeconds(settings)};
  words.insert(words.end(), more.begin(), more.end());
  return JobPoint(settings, std::move(words), {kTxnNodes, kTxnNodes, kTxnNodes});
}

}  // namespace slimgraph::experiment
