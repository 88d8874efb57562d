// TPC-C: all five transactions, or new-order alone. New-order alone starts without the orders of
// the standard's initial population, and its records are shorter.
#include "txnlayer/workload/internal/tpcc_client.h"

namespace slimgraph::txn {
namespace {

using namespace tpcc;

class TpccWorkload : public Workload {
 public:
  explicit TpccWorkload(const WorkloadOptions& options)
      : warehouses_(options.rows), seed_(options.seed) {
    tables_.population = Population::Share(options.population);
    Configure(options);
  }

  void Configure(const WorkloadOptions& options) override {
    remote_ = options.hot < 0 ? kRemoteLines : options.hot;
  }

 protected:
  Status LoadAll(Engine& engine, bool all) {
    tables_.warehouses = warehouses_ == 0 ? engine.cluster().topology().nodes() : warehouses_;
    return LoadTables(engine, tables_, all);
  }
  template <typename C>
  std::unique_ptr<Client> Make(Transaction& transaction) const {
    return std::make_unique<C>(tables_, transaction, remote_,
                               seed_ * 1'000'003 + transaction.process());
  }
  const TpccTables& tables() const { return tables_; }

 private:
  const std::uint64_t warehouses_;
  const std::uint64_t seed_;
  double remote_ = 0;
  TpccTables tables_;
};

class TpccNewOrder : public TpccWorkload {
 public:
  using TpccWorkload::TpccWorkload;
  std::string_view name() const override { return "tpcc-neworder"; }
  Status Load(Engine& engine) override { return LoadAll(engine, false); }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return Make<NewOrderClient>(transaction);
  }
  Status Verify(Engine& engine) override { return CheckConsistency(engine, tables()); }
};

class Tpcc : public TpccWorkload {
 public:
  using TpccWorkload::TpccWorkload;
  std::string_view name() const override { return "tpcc"; }
  Status Load(Engine& engine) override { return LoadAll(engine, true); }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return Make<TpccClient>(transaction);
  }

  void Collect(Client& client) override {
    const auto& one = static_cast<TpccClient&>(client);
    for (std::size_t kind = 0; kind < kKinds; ++kind) figures_[kind] += one.commits()[kind];
    figures_[kKinds] += one.torn();
  }

  Status Verify(Engine& engine) override {
    const auto add = std::plus<std::uint64_t>();
    SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::uint64_t>(figures_), add));
    std::copy_n(figures_.begin(), kKinds, counts_.begin());
    const std::uint64_t torn = std::exchange(figures_, {})[kKinds];
    if (torn > 0 && engine.protocol().isolation() == Isolation::kSerializable) {
      return VerificationError("TPC-C: {} transactions have read a part of another's changes",
                               torn);
    }
    return CheckConsistency(engine, tables());
  }

  std::vector<std::string> Kinds() const override { return {kKindNames.begin(), kKindNames.end()}; }
  std::vector<std::pair<std::string, std::uint64_t>> Counts() const override {
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      counts.emplace_back(kKindNames[kind], counts_[kind]);
    }
    return counts;
  }

 private:
  std::array<std::uint64_t, kKinds + 1> figures_ = {};  // of this node: commits, and torn()
  std::array<std::uint64_t, kKinds> counts_ = {};
};

}  // namespace

std::unique_ptr<Workload> MakeTpccNewOrder(const WorkloadOptions& options) {
  return std::make_unique<TpccNewOrder>(options);
}

std::unique_ptr<Workload> MakeTpcc(const WorkloadOptions& options) {
  return std::make_unique<Tpcc>(options);
}

}  // namespace slimgraph::txn
