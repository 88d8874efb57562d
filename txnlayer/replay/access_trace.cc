#include "txnlayer/replay/access_trace.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace slimgraph::txn {
namespace {

class Recorder {
 public:
  explicit Recorder(AccessTrace& trace) : trace_(trace) {}

  void Add(const Client& client, std::span<Access* const> accesses) {
    const std::uint32_t home = client.partition();
    auto rows = std::make_unique<TracedRow[]>(accesses.size());
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const TableSpec& spec = accesses[i]->table->spec();
      const TableId table = accesses[i]->table->id();
      const Key key = accesses[i]->key;
      const std::uint32_t partition =
          spec.constant ? home : static_cast<std::uint32_t>(key >> spec.home_shift);
      rows[i] = {NumberOf(rows_, {partition, table, key}), NumberOf(parts_, {partition, table, 0}),
                 partition, accesses[i]->write};
      trace_.partitions = std::max(trace_.partitions, partition + 1);
    }
    trace_.transactions.push_back({home, client.kind(), {rows.get(), accesses.size()}});
    trace_.memory.push_back(std::move(rows));
  }

  // Sets the places of rows and parts.
  void Finish() {
    trace_.num_rows = static_cast<std::uint32_t>(rows_.size());
    trace_.places.resize(rows_.size() + parts_.size());
    for (auto first = rows_.begin(); first != rows_.end();) {
      const std::uint32_t partition = std::get<0>(first->first);
      const auto after = rows_.lower_bound({partition + 1, 0, 0});
      const auto count = static_cast<std::uint64_t>(std::distance(first, after));
      for (std::uint64_t i = 0; first != after; ++first, ++i) {
        const auto place = static_cast<Place>((i << 32) / count);
        trace_.places[first->second] = place;
        const auto part = parts_.find({partition, std::get<1>(first->first), 0});
        Place& of_part = trace_.places[rows_.size() + part->second];
        if (of_part == 0) of_part = place;
      }
    }
  }

 private:
  using Name = std::tuple<std::uint32_t, TableId, Key>;  // partition, table, key
  using Numbers = std::map<Name, std::uint32_t>;
  static std::uint32_t NumberOf(Numbers& numbers, const Name& name) {
    return numbers.emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
  }

  AccessTrace& trace_;
  Numbers rows_;
  Numbers parts_;
};

}  // namespace

Result<AccessTrace> RecordAccesses(Engine& engine, Workload& workload, std::uint64_t transactions) {
  AccessTrace trace;
  trace.kinds = workload.Kinds();
  Recorder recorder(trace);
  SLIM_TRY(engine.Run([&](Transaction& transaction) {
    const auto client = workload.MakeClient(transaction);
    while (trace.transactions.size() < transactions && !engine.over()) {
      client->Choose();
      Attempt attempt = Attempt::kAborted;
      for (bool again = false; attempt == Attempt::kAborted && !engine.over(); again = true) {
        transaction.Begin(again, NowNs(), client->only_reads());
        attempt = client->Try(transaction);
        if (IsRefusal(transaction.reason()) && attempt == Attempt::kAborted) return;
      }
      if (attempt == Attempt::kCommitted) recorder.Add(*client, transaction.accesses());
    }
    workload.Collect(*client);
  }));
  recorder.Finish();
  SLIM_TRY(workload.Verify(engine));
  if (trace.transactions.size() < transactions) {
    return InputError("only {} of {} transactions could be recorded: the tables are full",
                      trace.transactions.size(), transactions);
  }
  return trace;
}

}  // namespace slimgraph::txn
