#include "txnlayer/workload/workload.h"

#include <algorithm>

namespace slimgraph::txn {
namespace {

enum class On : std::uint8_t { kTables, kGraph, kStore };  // kStore: its graph

struct Entry {
  std::string_view name;
  std::unique_ptr<Workload> (*make)(const WorkloadOptions&);
  On on = On::kTables;
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
                                {"graph-append", MakeGraphAppend, On::kGraph},
                                {"index-append", MakeIndexAppend, On::kGraph},
                                {"linkbench", MakeLinkBench, On::kStore},
                                {"tao", MakeTao, On::kStore},
                                {"snb-updates", MakeSnbUpdates, On::kStore},
                                {"graph-churn", MakeGraphChurn, On::kStore},
                                {"edge-updates", MakeEdgeUpdates, On::kStore}};

}  // namespace

std::vector<std::string_view> WorkloadNames() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kWorkloads) names.push_back(entry.name);
  return names;
}

bool RunsOnStore(std::string_view name) {
  return std::any_of(std::begin(kWorkloads), std::end(kWorkloads), [&](const Entry& entry) {
    return entry.name == name && entry.on == On::kStore;
  });
}

bool ChangesAGraph(std::string_view name) {
  return std::any_of(std::begin(kWorkloads), std::end(kWorkloads), [&](const Entry& entry) {
    return entry.name == name && entry.on != On::kTables;
  });
}

Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name,
                                               const WorkloadOptions& options) {
  for (const Entry& entry : kWorkloads) {
    if (entry.name != name) continue;
    if (entry.on == On::kStore && options.store.empty()) {
      return UsageError("--workload {} runs on a store: --store STORE is needed", name);
    }
    if (entry.on != On::kStore && !options.store.empty()) {
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
