#include "txnlayer/workload/workload.h"

#include <algorithm>

namespace slimgraph::txn {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Workload> (*make)(const WorkloadOptions&);
  bool on_store = false;
};

template <char kLetter>
std::unique_ptr<Workload> MakeMix(const WorkloadOptions& options) {
  return MakeYcsbMix(kLetter, options);
}

constexpr Entry kWorkloads[] = {{"smallbank", MakeSmallBank},
                                {"ycsb", MakeYcsb},
                                {"ycsb-a", MakeMix<'a'>},
                                {"ycsb-b", MakeMix<'b'>},
                                {"ycsb-c", MakeMix<'c'>},
                                {"ycsb-d", MakeMix<'d'>},
                                {"ycsb-e", MakeMix<'e'>},
                                {"ycsb-f", MakeMix<'f'>},
                                {"tpcc", MakeTpcc},
                                {"tpcc-neworder", MakeTpccNewOrder},
                                {"list-append", MakeListAppend},
                                {"graph-append", MakeGraphAppend},
                                {"index-append", MakeIndexAppend},
                                {"linkbench", MakeLinkBench, true},
                                {"tao", MakeTao, true},
                                {"snb-updates", MakeSnbUpdates, true},
                                {"graph-churn", MakeGraphChurn, true},
                                {"edge-updates", MakeEdgeUpdates, true}};

}  // namespace

std::vector<std::string_view> WorkloadNames() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kWorkloads) names.push_back(entry.name);
  return names;
}

bool RunsOnStore(std::string_view name) {
  return std::any_of(std::begin(kWorkloads), std::end(kWorkloads),
                     [&](const Entry& entry) { return entry.name == name && entry.on_store; });
}

Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name,
                                               const WorkloadOptions& options) {
  for (const Entry& entry : kWorkloads) {
    if (entry.name != name) continue;
    if (entry.on_store && options.store.empty()) {
      return UsageError("--workload {} runs on a store: --store STORE is needed", name);
    }
    if (!entry.on_store && !options.store.empty()) {
      return UsageError("--store is for workloads on graphs, and --workload {} is not one", name);
    }
    return entry.make(options);
  }
  std::string names;
  for (const Entry& entry : kWorkloads) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return UsageError("--workload '{}' is unknown; there are {}", name, names);
}

}  // namespace slimgraph::txn
