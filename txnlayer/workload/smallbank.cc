// SmallBank (Alomari et al., ICDE 2008): six small transactions on savings and checking accounts.
// Deposits and withdrawals are summed up, so the final total can be verified. The clients keep the
// sums. If nodes may die, a ledger table keeps them, with a row for each client.
#include <atomic>

#include "slimgraph/cluster/cluster.h"
#include "txnlayer/workload/workload.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kAccounts = 100'000;
constexpr double kHotShare = 0.04;           // of the accounts
constexpr double kHotAccountAccesses = 0.9;  // of the accesses
constexpr std::int64_t kInitialBalance = 10'000;
constexpr std::int64_t kMostAmount = 100;

enum class BankKind : std::uint8_t {
  kSendPayment,
  kAmalgamate,
  kBalance,
  kDepositChecking,
  kTransactSavings,
  kWriteCheck,
};

struct BankTables {
  Table* savings = nullptr;
  Table* checking = nullptr;
  Table* ledger = nullptr;  // null: nodes cannot die, so clients keep the sums
};

class SmallBankClient : public Client {
 public:
  SmallBankClient(const BankTables& tables, Key ledger_row, std::uint64_t accounts, double hot,
                  std::uint64_t seed)
      : tables_(tables), ledger_row_(ledger_row), accounts_(accounts), hot_(hot), random_(seed) {}

  void Choose() override {
    const std::uint64_t die = Below(random_, 100);
    kind_ = die < 25 ? BankKind::kSendPayment : static_cast<BankKind>(1 + (die - 25) / 15);
    account_ = ChooseAccount();
    do {
      other_ = ChooseAccount();
    } while (other_ == account_);
    amount_ = 1 + static_cast<std::int64_t>(Below(random_, kMostAmount));
    withdraw_ = Chance(random_, 0.5);
  }

  bool only_reads() const override { return kind_ == BankKind::kBalance; }

  Attempt Try(Transaction& transaction) override {
    std::int64_t change = 0;
    const Attempt attempt = Run(transaction, change);
    if (attempt == Attempt::kCommitted) change_ += change;
    return attempt;
  }

  std::int64_t change() const { return change_; }

 private:
  std::uint64_t ChooseAccount() {
    const auto hot = std::max<std::uint64_t>(
        2, static_cast<std::uint64_t>(static_cast<double>(accounts_) * kHotShare));
    return Chance(random_, hot_) ? Below(random_, hot) : Below(random_, accounts_);
  }

  Attempt Run(Transaction& transaction, std::int64_t& change) {
    Access* a[4] = {};
    Table* const savings = tables_.savings;
    Table* const checking = tables_.checking;
    Access* ledger = nullptr;
    const bool changes = kind_ >= BankKind::kDepositChecking && tables_.ledger != nullptr;
    const auto fetch = [&](std::initializer_list<Want> wants) {
      Want all[4];
      const auto end = std::copy(wants.begin(), wants.end(), all);
      if (changes) *end = {tables_.ledger, ledger_row_, true};
      if (!transaction.Fetch({all, wants.size() + (changes ? 1 : 0)}, a)) return false;
      if (changes) ledger = a[wants.size()];
      return true;
    };
    const auto add = [](Access* access, std::int64_t amount) {
      access->Put(access->Get<std::int64_t>() + amount);
    };
    const auto give_up = [&] {
      transaction.Abort();
      return Attempt::kRolledBack;
    };
    switch (kind_) {
      case BankKind::kSendPayment:
        if (!fetch({{checking, account_, true}, {checking, other_, true}})) {
          return Attempt::kAborted;
        }
        if (a[0]->Get<std::int64_t>() < amount_) return give_up();
        add(a[0], -amount_);
        add(a[1], amount_);
        break;
      case BankKind::kAmalgamate: {
        if (!fetch({{savings, account_, true},
                    {checking, account_, true},
                    {checking, other_, true}})) {
          return Attempt::kAborted;
        }
        add(a[2], a[0]->Get<std::int64_t>() + a[1]->Get<std::int64_t>());
        a[0]->Put(std::int64_t{0});
        a[1]->Put(std::int64_t{0});
        break;
      }
      case BankKind::kBalance:
        if (!fetch({{savings, account_, false}, {checking, account_, false}})) {
          return Attempt::kAborted;
        }
        break;
      case BankKind::kDepositChecking:
        if (!fetch({{checking, account_, true}})) return Attempt::kAborted;
        add(a[0], change = amount_);
        break;
      case BankKind::kTransactSavings:
        if (!fetch({{savings, account_, true}})) return Attempt::kAborted;
        change = withdraw_ ? -amount_ : amount_;
        if (a[0]->Get<std::int64_t>() + change < 0) return give_up();
        add(a[0], change);
        break;
      case BankKind::kWriteCheck: {
        if (!fetch({{savings, account_, false}, {checking, account_, true}})) {
          return Attempt::kAborted;
        }
        const std::int64_t both = a[0]->Get<std::int64_t>() + a[1]->Get<std::int64_t>();
        add(a[1], change = both < amount_ ? -amount_ - 1 : -amount_);
        break;
      }
    }
    if (changes) add(ledger, change);
    return transaction.Commit() ? Attempt::kCommitted : Attempt::kAborted;
  }

  const BankTables& tables_;
  Key ledger_row_;  // in the ledger
  std::uint64_t accounts_;
  double hot_;
  Random random_;
  BankKind kind_ = BankKind::kBalance;
  std::uint64_t account_ = 0;
  std::uint64_t other_ = 0;
  std::int64_t amount_ = 0;
  bool withdraw_ = false;
  std::int64_t change_ = 0;
};

class SmallBank : public Workload {
 public:
  explicit SmallBank(const WorkloadOptions& options)
      : accounts_(options.rows == 0 ? kAccounts : std::max<std::uint64_t>(2, options.rows)),
        seed_(options.seed) {
    Configure(options);
  }

  void Configure(const WorkloadOptions& options) override {
    hot_ = options.hot < 0 ? kHotAccountAccesses : options.hot;
  }

  std::string_view name() const override { return "smallbank"; }

  Status Load(Engine& engine) override {
    const std::uint64_t per_node = accounts_ / engine.cluster().topology().nodes() + 1;
    SLIM_ASSIGN(tables_.savings, engine.tables().Add({"savings", 8, per_node}));
    SLIM_ASSIGN(tables_.checking, engine.tables().Add({"checking", 8, per_node}));
    for (Table* const table : {tables_.savings, tables_.checking}) {
      for (Key key = 0; key < accounts_; ++key) {
        if (table->Home(key) != engine.self()) continue;
        if (!table->Load(key, std::as_bytes(std::span(&kInitialBalance, 1)))) {
          return InputError("the table of accounts is full");
        }
      }
    }
    return engine.replication() == nullptr ? Status() : LoadLedger(engine);
  }

  // Each client's row is on its own node.
  Status LoadLedger(Engine& engine) {
    const std::uint64_t ledger_rows = std::uint64_t{kMaxCoroutines} * engine.cluster().threads();
    SLIM_ASSIGN(tables_.ledger, engine.tables().Add({"ledger", 8, ledger_rows}));
    const std::int64_t nothing = 0;
    for (std::uint64_t i = 0; i < ledger_rows; ++i) {
      const Key row = i * engine.cluster().topology().nodes() + engine.self();
      if (!tables_.ledger->Load(row, std::as_bytes(std::span(&nothing, 1)))) {
        return EnvironmentError("table ledger has no room for row {}", row);
      }
    }
    return {};
  }

  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    const Engine& engine = transaction.engine();
    const std::uint64_t nodes = engine.tables().view().nodes();
    const std::uint64_t clients = transaction.process() - transaction.first_process();
    return std::make_unique<SmallBankClient>(tables_, clients * nodes + engine.self(), accounts_,
                                             hot_, seed_ * 1'000'003 + transaction.process());
  }

  void Collect(Client& client) override {
    change_ += static_cast<SmallBankClient&>(client).change();
  }

  // The change of this node's accounts since loading, which earlier runs have made.
  Status Resume(Engine& engine, std::uint64_t) override {
    std::int64_t accounts = 0;
    change_ = AddUp(engine, *tables_.savings, accounts);
    change_ += AddUp(engine, *tables_.checking, accounts);
    change_ -= accounts * kInitialBalance;
    return {};
  }

  Status Verify(Engine& engine) override {
    std::int64_t sums[3] = {0, tables_.ledger == nullptr ? change_ : 0, 0};
    std::int64_t ledger_rows = 0;
    sums[0] += AddUp(engine, *tables_.savings, sums[2]);
    sums[0] += AddUp(engine, *tables_.checking, sums[2]);
    if (tables_.ledger != nullptr) sums[1] += AddUp(engine, *tables_.ledger, ledger_rows);
    SLIM_TRY(engine.cluster().all().AllReduce(std::span<std::int64_t>(sums), std::plus<>()));
    const std::int64_t accounts = 2 * static_cast<std::int64_t>(accounts_);
    if (sums[2] != accounts) {
      return VerificationError("SmallBank: there are {} accounts of {}", sums[2], accounts);
    }
    const std::int64_t expected = accounts * kInitialBalance + sums[1];
    if (sums[0] == expected) return {};
    return VerificationError("SmallBank: there are {} in all accounts, and should be {}", sums[0],
                             expected);
  }

 private:
  // Sums up the amounts in this node's part of a table, and adds their number to `records`.
  static std::int64_t AddUp(Engine& engine, Table& table, std::int64_t& records) {
    std::int64_t sum = 0;
    engine.tables().ForEachRecord(table, [&](Key, const std::byte* record) {
      if (record == nullptr) return;
      std::int64_t amount;
      std::memcpy(&amount, record, sizeof amount);
      sum += amount;
      ++records;
    });
    return sum;
  }

  std::uint64_t accounts_;
  double hot_ = 0;
  std::uint64_t seed_;
  BankTables tables_;
  std::int64_t change_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeSmallBank(const WorkloadOptions& options) {
  return std::make_unique<SmallBank>(options);
}

}  // namespace slimgraph::txn
