// YCSB's core workloads A to F, on an ordered table. Their operations are those of the YCSB paper
// (SoCC 2010), each in a transaction, or several of them:
//   a   50 % reads, 50 % updates          d   95 % reads of the latest records, 5 % inserts
//   b   95 % reads, 5 % updates           e   95 % scans, 5 % inserts
//   c   100 % reads                       f   50 % reads, 50 % read-modify-writes
// Keys are a hash of the record's number, and numbers are drawn with Zipf's distribution. An update
// increments a counter in its record, so lost updates show in the sum.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "slimgraph/base/mix.h"
#include "txnlayer/ordered/ordered_table.h"
#include "txnlayer/workload/internal/zipf.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kUsualRows = 1 << 17;

enum class Kind : std::uint8_t { kRead, kUpdate, kInsert, kScan };
constexpr std::size_t kKinds = 4;
constexpr std::array<const char*, kKinds> kKindNames = {"reads", "updates", "inserts", "scans"};

struct Mix {
  std::string_view name;
  Kind reads;   // the kind of the operations that write nothing,
  Kind writes;  // and that of the others
  double write_share;
  bool latest = false;
};
constexpr Mix kMixes[] = {{"ycsb-a", Kind::kRead, Kind::kUpdate, 0.5},
                          {"ycsb-b", Kind::kRead, Kind::kUpdate, 0.05},
                          {"ycsb-c", Kind::kRead, Kind::kUpdate, 0},
                          {"ycsb-d", Kind::kRead, Kind::kInsert, 0.05, true},
                          {"ycsb-e", Kind::kScan, Kind::kInsert, 0.05},
                          {"ycsb-f", Kind::kRead, Kind::kUpdate, 0.5}};

constexpr Key kLastKey = ~Key{0};

// A bijection, so no two records have the same key.
Key KeyOf(std::uint64_t number) { return Mix64(number + kMixStep); }

// Inserted records have numbers that no others have: those of a coroutine in a run follow each
// other. The parts of such a number, besides the last 24 bits: the coroutine, the run of this job,
// and the run of the durable logs.
constexpr unsigned kProcessShift = 24;
constexpr unsigned kRunShift = 40;
constexpr unsigned kLogsShift = 52;

struct YcsbSetting {
  Mix mix;
  std::uint64_t rows = 0;
  std::uint64_t logs_run = 0;
  std::uint64_t run = 1;
  std::uint32_t operations = 1;
  std::uint32_t scan_length = 100;
  Lookup lookup = Lookup::kHash;
};

class YcsbMixClient : public Client {
 public:
  YcsbMixClient(OrderedTable& table, const Zipf& zipf, const YcsbSetting& setting,
                Transaction& transaction, std::uint64_t seed)
      : table_(table),
        zipf_(zipf),
        setting_(setting),
        steps_(transaction.engine().protocol(), StepwiseFetch::Unnamed::kAbort),
        first_((setting.logs_run << kLogsShift) + (setting.run << kRunShift) +
               (transaction.process() << kProcessShift)),
        random_(seed) {}

  void Choose() override {
    steps_.Forget();
    operations_.clear();
    std::uint64_t inserts = 0;
    for (std::uint32_t i = 0; i < setting_.operations; ++i) {
      const bool writes = Chance(random_, setting_.mix.write_share);
      Operation& one =
          operations_.emplace_back(Operation{writes ? setting_.mix.writes : setting_.mix.reads});
      if (one.kind == Kind::kInsert) {
        one.key = KeyOf(first_ + inserted_ + inserts++);
      } else {
        one.key = KeyOf(Number(zipf_.Draw(random_)));
      }
      if (one.kind == Kind::kScan) one.length = 1 + Below(random_, setting_.scan_length);
    }
  }

  bool only_reads() const override {
    return std::none_of(operations_.begin(), operations_.end(), [](const Operation& one) {
      return one.kind == Kind::kInsert || one.kind == Kind::kUpdate;
    });
  }

  Attempt Try(Transaction& transaction) override {
    steps_.Begin();
    sees_wrong_ = false;
    for (const Operation& one : operations_) {
      if (!Do(transaction, one)) return Attempt::kAborted;
    }
    if (!transaction.Commit()) return Attempt::kAborted;
    for (const Operation& one : operations_) {
      ++counts_[static_cast<std::size_t>(one.kind)];
      inserted_ += one.kind == Kind::kInsert ? 1 : 0;
    }
    wrong_ += sees_wrong_ ? 1 : 0;
    return Attempt::kCommitted;
  }

  const std::array<std::uint64_t, kKinds>& counts() const { return counts_; }
  std::uint64_t wrong() const { return wrong_; }

 private:
  struct Operation {
    Kind kind;
    Key key = 0;
    std::uint64_t length = 0;  // of a scan
  };

  // The number of the record with that rank.
  std::uint64_t Number(std::uint64_t rank) const {
    if (!setting_.mix.latest) return rank;
    return rank < inserted_ ? first_ + inserted_ - 1 - rank
                            : setting_.rows - 1 - (rank - inserted_) % setting_.rows;
  }

  // False: the transaction was aborted.
  bool Do(Transaction& transaction, const Operation& one) {
    switch (one.kind) {
      case Kind::kInsert: {
        Access* row = nullptr;
        if (!table_.Insert(transaction, steps_, one.key, &row)) return false;
        row->Put(std::uint64_t{0});
        return true;
      }
      case Kind::kScan: {
        if (!table_.Scan(transaction, steps_, one.key, kLastKey, one.length, found_)) return false;
        for (std::size_t i = 0; i < found_.size(); ++i) {
          sees_wrong_ |= found_[i]->key < (i == 0 ? one.key : found_[i - 1]->key + 1);
        }
        return true;
      }
      case Kind::kRead:
      case Kind::kUpdate: {
        const bool writes = one.kind == Kind::kUpdate;
        Access* row = nullptr;
        if (setting_.lookup != Lookup::kLeaf) {
          row = table_.Read(transaction, steps_, one.key, writes);
          if (row == nullptr) return false;
        } else if (!table_.ReadByLeaf(transaction, steps_, one.key, writes, &row)) {
          return false;
        }
        sees_wrong_ |= row == nullptr || !row->exists();
        if (writes && row != nullptr) row->Put(row->Get<std::uint64_t>() + 1);
        return true;
      }
    }
    return true;
  }

  OrderedTable& table_;
  const Zipf& zipf_;
  const YcsbSetting& setting_;
  StepwiseFetch steps_;
  const std::uint64_t first_;   // the number of the first record that it inserts
  std::uint64_t inserted_ = 0;  // records
  Random random_;
  std::vector<Operation> operations_;
  std::vector<Access*> found_;
  bool sees_wrong_ = false;  // in this attempt
  std::array<std::uint64_t, kKinds> counts_ = {};
  std::uint64_t wrong_ = 0;  // transactions that missed a record, or read one out of order
};

class YcsbMix : public Workload {
 public:
  YcsbMix(const Mix& mix, const WorkloadOptions& options)
      : setting_{.mix = mix, .rows = options.rows == 0 ? kUsualRows : options.rows},
        options_(options) {
    Configure(options);
  }

  void Configure(const WorkloadOptions& options) override {
    setting_.operations = options.operations;
    setting_.scan_length = options.scan_length;
    setting_.lookup = options.lookup;
    if (options.write_share >= 0) setting_.mix.write_share = options.write_share;
  }

  std::string_view name() const override { return setting_.mix.name; }

  Status Load(Engine& engine) override {
    const OrderedSpec spec{.name = "rows",
                           .record_bytes = options_.record_bytes,
                           .keys_per_node = setting_.rows / engine.cluster().topology().nodes() + 1,
                           .by_tree = setting_.lookup == Lookup::kTree};
    SLIM_ASSIGN(table_, OrderedTable::Make(engine, spec));
    std::vector<Key> mine;
    const NodeId nodes = engine.cluster().topology().nodes();
    for (std::uint64_t i = engine.self(); i < setting_.rows; i += nodes) mine.push_back(KeyOf(i));
    loaded_ = setting_.rows;
    zipf_.emplace(setting_.rows, options_.theta);
    return table_->Load(std::move(mine), [](Key, std::byte*) {});
  }

  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return std::make_unique<YcsbMixClient>(*table_, *zipf_, setting_, transaction,
                                           options_.seed * 1'000'003 + transaction.process());
  }

  void Collect(Client& client) override {
    const auto& one = static_cast<YcsbMixClient&>(client);
    for (std::size_t kind = 0; kind < kKinds; ++kind) counts_[kind] += one.counts()[kind];
    wrong_ += one.wrong();
  }

  Status Resume(Engine& engine, std::uint64_t run) override {
    setting_.logs_run = run;
    Sums sums = AddUp(engine);
    SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
    loaded_ = sums[kRecords];
    increments_ = sums[kIncrements];
    return table_->Learn();
  }

  Status Verify(Engine& engine) override {
    SLIM_TRY(table_->Check());
    ++setting_.run;
    Sums sums = AddUp(engine);
    sums[kUpdated] = counts_[static_cast<std::size_t>(Kind::kUpdate)];
    sums[kInserted] = counts_[static_cast<std::size_t>(Kind::kInsert)];
    sums[kWrong] = wrong_;
    sums[kLeafBytes] = table_->leaves().used_bytes();
    sums[kRowBytes] = table_->rows().used_bytes();
    sums[kDirectoryBytes] = table_->directory().bytes();
    sums[kSearches] = table_->searches();
    sums[kDetours] = table_->detours();
    for (std::size_t kind = 0; kind < kKinds; ++kind) sums[kFirstKind + kind] = counts_[kind];
    SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
    found_ = sums;
    if (sums[kWrong] != 0) {
      return VerificationError("{}: {} transactions missed a record, or read one out of order",
                               name(), sums[kWrong]);
    }
    const std::uint64_t records = loaded_ + sums[kInserted];
    const std::uint64_t increments = increments_ + sums[kUpdated];
    // What the clients of a dead node have done is unknown.
    const bool all_known = engine.tables().view().losses() == 0;
    if (all_known ? sums[kRecords] != records : sums[kRecords] < records) {
      return VerificationError("{}: there are {} records of {}", name(), sums[kRecords], records);
    }
    if (all_known ? sums[kIncrements] != increments : sums[kIncrements] < increments) {
      return VerificationError("{}: the records were updated {} times, and {} updates committed",
                               name(), sums[kIncrements], increments);
    }
    return {};
  }

  std::vector<std::pair<std::string, std::uint64_t>> Counts() const override {
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      counts.emplace_back(kKindNames[kind], found_[kFirstKind + kind]);
    }
    counts.emplace_back("leaf_searches", found_[kSearches]);
    counts.emplace_back("leaf_detours", found_[kDetours]);
    return counts;
  }

  std::vector<std::pair<std::string, std::uint64_t>> Memory() const override {
    return {{"rows", found_[kRowBytes]},
            {"leaves", found_[kLeafBytes]},
            {"directories", found_[kDirectoryBytes]}};
  }

 private:
  enum Sum : std::size_t {
    kRecords,
    kIncrements,
    kUpdated,
    kInserted,
    kWrong,
    kLeafBytes,
    kRowBytes,
    kDirectoryBytes,
    kSearches,
    kDetours,
    kFirstKind,
    kSums = kFirstKind + kKinds
  };
  using Sums = std::array<std::uint64_t, kSums>;

  // This node's records and their counters.
  Sums AddUp(Engine& engine) {
    Sums sums = {};
    engine.tables().ForEachRecord(table_->rows(), [&](Key, const std::byte* record) {
      if (record == nullptr) return;
      std::uint64_t increments;
      std::memcpy(&increments, record, sizeof increments);
      sums[kIncrements] += increments;
      ++sums[kRecords];
    });
    return sums;
  }

  YcsbSetting setting_;
  WorkloadOptions options_;
  std::optional<Zipf> zipf_;
  std::unique_ptr<OrderedTable> table_;
  std::uint64_t loaded_ = 0;      // records, on all nodes
  std::uint64_t increments_ = 0;  // those of earlier runs
  std::array<std::uint64_t, kKinds> counts_ = {};
  std::uint64_t wrong_ = 0;
  Sums found_ = {};  // on all nodes, by the last Verify()
};

}  // namespace

std::unique_ptr<Workload> MakeYcsbMix(char letter, const WorkloadOptions& options) {
  return std::make_unique<YcsbMix>(kMixes[letter - 'a'], options);
}

}  // namespace slimgraph::txn
