// YCSB: transactions of ten operations on records of 64 bytes, a fifth of them writes. A given
// share of the operations goes to a hot area of 0.1 % of the rows. Each write increments a counter
// in its record, so lost updates show in the sum. The computation of a transaction does not depend
// on what it reads.
#include "slimgraph/base/clock.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kRows = 1 << 17;
constexpr std::uint32_t kRecordBytes = 64;
constexpr std::size_t kOperations = 10;
constexpr double kWriteShare = 0.2;
constexpr double kHotArea = 0.001;
constexpr double kHotAccesses = 0.1;

class YcsbClient : public Client {
 public:
  YcsbClient(Table& table, std::uint64_t rows, double hot, std::uint64_t compute_us,
             std::uint64_t seed)
      : table_(table), rows_(rows), hot_(hot), compute_us_(compute_us), random_(seed) {}

  void Choose() override {
    const auto area = std::max<std::uint64_t>(
        kOperations, static_cast<std::uint64_t>(static_cast<double>(rows_) * kHotArea));
    for (std::size_t i = 0; i < kOperations; ++i) {
      const auto known = [&](Key key) {
        bool any = false;
        for (std::size_t before = 0; before < i; ++before) any |= wants_[before].key == key;
        return any;
      };
      Key key;
      do {
        key = Below(random_, Chance(random_, hot_) ? area : rows_);
      } while (known(key));
      wants_[i] = {&table_, key, Chance(random_, kWriteShare)};
    }
  }

  bool only_reads() const override {
    return std::none_of(std::begin(wants_), std::end(wants_),
                        [](const Want& want) { return want.write; });
  }

  Attempt Try(Transaction& transaction) override {
    Access* accesses[kOperations];
    if (!transaction.StartFetch(wants_, accesses)) return Attempt::kAborted;
    if (compute_us_ > 0) {
      const std::uint64_t until_ns = NowNs() + compute_us_ * 1000;
      while (NowNs() < until_ns) {
      }
    }
    if (!transaction.FinishFetch()) return Attempt::kAborted;
    std::uint64_t writes = 0;
    for (std::size_t i = 0; i < kOperations; ++i) {
      const auto count = accesses[i]->Get<std::uint64_t>();
      if (!wants_[i].write) continue;
      accesses[i]->Put(count + 1);
      ++writes;
    }
    if (!transaction.Commit()) return Attempt::kAborted;
    writes_ += writes;
    return Attempt::kCommitted;
  }

  std::uint64_t writes() const { return writes_; }

 private:
  Table& table_;
  std::uint64_t rows_;
  double hot_;
  std::uint64_t compute_us_;
  Random random_;
  Want wants_[kOperations];
  std::uint64_t writes_ = 0;
};

class Ycsb : public Workload {
 public:
  explicit Ycsb(const WorkloadOptions& options)
      : rows_(options.rows == 0 ? kRows : std::max<std::uint64_t>(kOperations, options.rows)),
        options_(options) {
    Configure(options);
  }

  void Configure(const WorkloadOptions& options) override {
    hot_ = options.hot < 0 ? kHotAccesses : options.hot;
    options_.compute_us = options.compute_us;
  }

  std::string_view name() const override { return "ycsb"; }

  Status Load(Engine& engine) override {
    const std::uint64_t per_node = rows_ / engine.cluster().topology().nodes() + 1;
    SLIM_ASSIGN(table_, engine.tables().Add({"rows", kRecordBytes, per_node}));
    const std::byte record[kRecordBytes] = {};
    for (Key key = 0; key < rows_; ++key) {
      if (table_->Home(key) == engine.self() && !table_->Load(key, record)) {
        return InputError("the table of rows is full");
      }
    }
    return {};
  }

  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return std::make_unique<YcsbClient>(*table_, rows_, hot_, options_.compute_us,
                                        options_.seed * 1'000'003 + transaction.process());
  }

  void Collect(Client& client) override { writes_ += static_cast<YcsbClient&>(client).writes(); }

  Status Resume(Engine& engine, std::uint64_t) override {
    std::uint64_t rows = 0;
    writes_ = AddUp(engine, rows);
    return {};
  }

  Status Verify(Engine& engine) override {
    std::uint64_t rows = 0;
    std::uint64_t sums[2] = {AddUp(engine, rows), writes_};
    SLIM_ASSIGN(rows, engine.cluster().all().AllSum(rows));
    if (rows != rows_) return VerificationError("YCSB: there are {} rows of {}", rows, rows_);
    SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::uint64_t>(sums), std::plus<>()));
    // The writes of the clients of a dead node are unknown.
    const bool all_known = engine.tables().view().losses() == 0;
    if (all_known ? sums[0] == sums[1] : sums[0] >= sums[1]) return {};
    return VerificationError("YCSB: the records were written {} times, and {} writes committed",
                             sums[0], sums[1]);
  }

 private:
  // Sums up the counters of this node's records.
  std::uint64_t AddUp(Engine& engine, std::uint64_t& rows) {
    std::uint64_t sum = 0;
    engine.tables().ForEachRecord(*table_, [&](Key, const std::byte* record) {
      if (record == nullptr) return;
      std::uint64_t count;
      std::memcpy(&count, record, sizeof count);
      sum += count;
      ++rows;
    });
    return sum;
  }

  std::uint64_t rows_;
  double hot_ = 0;
  WorkloadOptions options_;
  Table* table_ = nullptr;
  std::uint64_t writes_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeYcsb(const WorkloadOptions& options) {
  return std::make_unique<Ycsb>(options);
}

}  // namespace slimgraph::txn
