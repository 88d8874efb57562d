// The scenario of stores: files of updates are applied while processes are killed, the power is
// cut, and the disk fails or is full. What was told stays, and all the rest is applied once.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/base/sim/disk.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/files/csr.h"
#include "tests/sim/scenario.h"
#include "tests/support/unwrap.h"
#include "txnlayer/disk/apply.h"
#include "txnlayer/disk/merge.h"

namespace slimgraph::test {
namespace {

using txn::UpdateKind;
using txn::VertexName;

constexpr NodeId kHost = 0;      // runs the processes that use the store, which is on its disk
constexpr NodeId kOperator = 1;  // starts them, and has the files of updates
const std::string kStores = "/sim/0/stores";
const std::string kStorePath = kStores + "/store";
constexpr VertexName kVertices = 12;  // they are never deleted

// The lists of a small graph.
using Adjacency = std::map<VertexName, std::set<VertexName>>;

struct Operation {
  UpdateKind kind;
  VertexName one;
  VertexName other;
  bool operator==(const Operation&) const = default;
};

void Take(const Operation& operation, bool directed, Adjacency& graph) {
  const auto& [kind, one, other] = operation;
  switch (kind) {
    case UpdateKind::kAddVertex:
      graph[one];
      break;
    case UpdateKind::kDeleteVertex:
      graph.erase(one);
      for (auto& [name, list] : graph) list.erase(one);
      break;
    case UpdateKind::kAddEdge:
      graph[one].insert(other);
      if (!directed) graph[other].insert(one);
      break;
    case UpdateKind::kDeleteEdge:
      graph[one].erase(other);
      if (!directed) graph[other].erase(one);
  }
}

const std::string& GraphPath(bool directed) {
  static const auto paths = [] {
    std::array<std::string, 2> made;
    for (const bool is_directed : {false, true}) {
      made[is_directed] = fmt::format("{}/store{}.slim", ScenarioFolder(), int{is_directed});
      EdgeList list;
      list.vertices = kVertices;
      for (VertexId v = 0; v < list.vertices; ++v) list.edges.push_back({v, v * 5 % list.vertices});
      list.directed = is_directed;
      Unwrap(WriteSlimFile(list, made[is_directed]));
    }
    return made;
  }();
  return paths[directed];
}

Adjacency ListsOf(const std::string& path) {
  const SlimFile file = Unwrap(SlimFile::Open(path));
  Unwrap(file.CheckAll());
  const Csr lists = Unwrap(ReadCsr(file));
  const OriginalIds ids = Unwrap(file.ReadOriginalIds());
  Adjacency graph;
  for (VertexId v = 0; v < lists.vertices(); ++v) {
    auto& list = graph[ids[v]];
    for (const VertexId u : lists.list(v)) list.insert(ids[u]);
  }
  return graph;
}

struct UpdateFile {
  std::string path;
  std::string batch_id;
  std::uint64_t batch = 1;
  std::vector<Operation> operations;
  std::vector<std::size_t> after_line = {0};  // operations in so many lines
};

class StoreOperator {
 public:
  explicit StoreOperator(World& world)
      : world_(world),
        directed_(world.Draw(2) == 0),
        base_(ListsOf(GraphPath(directed_))),
        random_(world.Draw(~std::uint64_t{0})) {}

  void Work() {
    const std::uint64_t steps = 5 + Random(20);
    Unwrap(MakeFolder(kStores));
    Unwrap(SyncPath("/sim/0"));
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (!created_) {
        Create();
      } else if (pending_ && Random(8) == 0) {
        Abandon();
      } else if (pending_ || Random(2) == 0) {
        ApplyFile();
      } else if (Random(3) == 0) {
        ApplyNothing();
      } else if (Random(3) > 0) {
        Fold();
      } else {
        MakeImage();
      }
      // A power cut may remove a store that nobody was told of.
      if (!certain_) created_ = Unwrap(Exists(kStorePath));
      if (created_ && Random(2) == 0) Verify();
    }
    faults_ = false;
    if (!created_) Create();
    if (pending_) ApplyFile();
    world_.Check(!pending_, "a file is not applied without faults");
    Verify();
    Fold();
    Verify();
  }

 private:
  enum class Fault { kNone, kKill, kPowerCut, kError, kFull };

  std::uint64_t Random(std::uint64_t below) { return random_() % below; }
  // Runs `body` as a process of the host, perhaps with a fault, which may come before it ends or
  // after. `body` returns an error or nothing.
  void RunProcess(const std::string& name, const std::function<Status()>& body);
  void Create();
  void ApplyFile();
  void Fold();
  void MakeImage();
  UpdateFile WriteFile();
  void Abandon();
  void ApplyNothing();
  std::vector<Operation> LogBehindTold();
  void CheckPending(const std::vector<Operation>& behind);
  void Verify() { CheckPending(LogBehindTold()); }

  World& world_;
  const bool directed_;
  const Adjacency base_;
  std::mt19937_64 random_;  // of its own, so that it does the same if faults are left out
  bool faults_ = true;
  bool created_ = false;  // perhaps by a process that was killed before it could tell
  bool certain_ = false;  // a process has told
  std::uint64_t files_ = 0;
  std::map<std::string, std::uint64_t> duration_ns_;  // of processes, by name
  std::vector<Operation> told_;  // that are in the store for certain, and in this order
  std::map<txn::GraphTime, std::size_t> folded_;  // operations in the base, by its time
  std::optional<UpdateFile> pending_;             // a file that has not been reported as applied
  std::uint64_t told_lines_ = 0;                  // of this file
  std::uint64_t tries_ = 0;                       // to apply it
  std::uint64_t last_lines_ = 0;                  // of the file of the last batch in the log
  std::vector<UpdateFile> applied_;               // those with batch ids
};

void StoreOperator::RunProcess(const std::string& name, const std::function<Status()>& body) {
  sim::Scheduler& scheduler = world_.scheduler();
  auto random = faults_ ? world_.BeginFault() : std::nullopt;
  const auto fault =
      random && random->Below(3) > 0 ? static_cast<Fault>(1 + random->Below(4)) : Fault::kNone;
  if (fault == Fault::kError) {
    const std::uint64_t operations = random->Below(60);
    world_.Note(fmt::format("the disk fails once after {} operations of {}", operations, name));
    scheduler.disks().FailAfter(kHost, operations);
  } else if (fault == Fault::kFull) {
    const std::uint64_t bytes = random->Below(3'000);
    world_.Note(fmt::format("the disk has room for {} bytes of {}", bytes, name));
    scheduler.disks().LimitRoom(kHost, bytes);
  }
  const std::uint64_t start_ns = scheduler.now_ns();
  bool ended = false;
  const auto process = scheduler.Start(kHost, name, [&] {
    const Status done = body();
    if (!done) {
      world_.Note(fmt::format("{}: {}", name, done.error().message));
      world_.Check(fault == Fault::kError || fault == Fault::kFull, "{}: {}", name,
                   done.error().message);
    }
    ended = true;
  });
  if (fault == Fault::kKill || fault == Fault::kPowerCut) {
    const std::uint64_t known_ns = duration_ns_[name];
    SleepFor(std::chrono::nanoseconds(random->Below(known_ns == 0 ? 5 * kMs : 2 * known_ns)));
    const char* const when = ended ? "after" : "during";
    scheduler.EndNode(kHost, 1);
    scheduler.ReviveNode(kHost);
    if (fault == Fault::kPowerCut) scheduler.disks().CutPower(kHost);
    world_.Note(fmt::format("{} {} {}", fault == Fault::kKill ? "kill" : "power cut", when, name));
  } else {
    scheduler.Join(*process);
    duration_ns_[name] = scheduler.now_ns() - start_ns;
  }
  scheduler.disks().FailAfter(kHost, sim::kForever);
  scheduler.disks().LimitRoom(kHost, sim::kForever);
  // What a process that has ended left to the system's cache may be lost as well.
  if (random && random->Below(6) == 0) {
    scheduler.disks().CutPower(kHost);
    world_.Note("power cut while nothing runs");
  }
}

// A process that fails leaves nothing.
void StoreOperator::Create() {
  const std::size_t names_before = Unwrap(NamesIn(kStores)).size();
  RunProcess("create", [this, names_before]() -> Status {
    const Status made = txn::Store::Create(kStorePath, GraphPath(directed_), {});
    if (!made) {
      const auto names = Unwrap(NamesIn(kStores));
      world_.Check(names.size() == names_before, "a store that could not be created has left {}",
                   names.back());
      return made;
    }
    created_ = certain_ = true;
    world_.Note("has created the store");
    return {};
  });
}

// Random lines that can be applied to any state, also twice.
UpdateFile StoreOperator::WriteFile() {
  UpdateFile file;
  file.path = fmt::format("/sim/{}/updates{}", kOperator, ++files_);
  if (Random(2) == 0) file.batch_id = fmt::format("file {}", files_);
  // Long batches have several sectors.
  const bool is_long = Random(4) == 0;
  file.batch = is_long ? 20 + Random(60) : 1 + Random(4);
  std::string text;
  const auto add = [&](UpdateKind kind, const char* sign, VertexName one,
                       std::optional<VertexName> other = std::nullopt) {
    text +=
        other ? fmt::format("{} {} {}\n", sign, one, *other) : fmt::format("{} {}\n", sign, one);
    file.operations.push_back({kind, one, other.value_or(0)});
    file.after_line.push_back(file.operations.size());
  };
  const std::uint64_t count = is_long ? 40 + Random(100) : 1 + Random(20);
  while (file.operations.size() < count) {
    const VertexName u = Random(kVertices);
    const VertexName v = kVertices + Random(6);
    switch (Random(4)) {
      case 0:
        add(UpdateKind::kAddVertex, "+v", v);
        add(UpdateKind::kAddEdge, "+", v, u);
        if (Random(2) == 0) add(UpdateKind::kDeleteVertex, "-v", v);
        break;
      case 1:
        text += "# a remark\n";
        file.after_line.push_back(file.operations.size());
        break;
      case 2:
        add(UpdateKind::kDeleteEdge, "-", u, Random(kVertices));
        break;
      default:
        add(UpdateKind::kAddEdge, "+", u, Random(kVertices));
    }
  }
  AtomicFile made = Unwrap(AtomicFile::Create(file.path));
  Unwrap(made.WriteAt(0, std::as_bytes(std::span(text))));
  Unwrap(made.Commit());
  return file;
}

// Tries once to apply a file; a file that was not reported as applied is given again.
void StoreOperator::ApplyFile() {
  const bool again = !pending_ && !applied_.empty() && Random(4) == 0;
  if (!pending_) {
    pending_ = again ? applied_[Random(applied_.size())] : WriteFile();
    told_lines_ = tries_ = 0;
    if (again) {  // it has no effect any more
      pending_->operations.clear();
      std::ranges::fill(pending_->after_line, 0);
    }
  }
  ++tries_;
  bool told = false;
  RunProcess("apply", [&]() -> Status {
    const auto report = txn::Apply({.store = kStorePath,
                                    .updates = pending_->path,
                                    .batch = pending_->batch,
                                    .batch_id = pending_->batch_id,
                                    .progress = [this](std::uint64_t lines, std::uint64_t) {
                                      told_lines_ = std::max(told_lines_, lines);
                                      certain_ = true;
                                    }});
    if (!report) return tl::unexpected(report.error());
    told = certain_ = true;
    world_.Note(fmt::format("has applied {}: {} updates after line {}", pending_->path,
                            report->updates, report->lines_before));
    return {};
  });
  if (!told) return;
  const auto behind = LogBehindTold();
  const std::uint64_t once = pending_->operations.size();
  world_.Check(behind.size() >= once && (once == 0 || behind.size() % once == 0),
               "{} was applied, but {} of its {} updates are in the log", pending_->path,
               behind.size(), once);
  CheckPending(behind);
  told_.insert(told_.end(), behind.begin(), behind.end());
  if (!pending_->batch_id.empty() && once > 0) applied_.push_back(*pending_);
  pending_.reset();
}

// Leaves an interrupted file as it is.
void StoreOperator::Abandon() {
  const auto report = Unwrap(txn::Apply({.store = kStorePath, .updates = "", .abandon = true}));
  const auto behind = LogBehindTold();
  CheckPending(behind);
  told_.insert(told_.end(), behind.begin(), behind.end());
  world_.Note(fmt::format("has abandoned '{}'", report.abandoned));
  pending_.reset();
}

// A writer that only opens the store.
void StoreOperator::ApplyNothing() {
  RunProcess("nothing", []() -> Status {
    SLIM_TRY(txn::Apply({.store = kStorePath, .updates = "", .abandon = true}));
    return {};
  });
}

void StoreOperator::Fold() {
  RunProcess("fold", [this]() -> Status {
    SLIM_ASSIGN(txn::Store store, txn::Store::Open(kStorePath, txn::Store::Use::kWrite));
    // A power cut may have brought back the journal of a file that is complete.
    if (store.applying()) return {};
    folded_[store.last()] = told_.size();
    SLIM_TRY(store.Fold());
    world_.Note("has folded the log");
    return {};
  });
}

void StoreOperator::MakeImage() {
  RunProcess("image", []() -> Status {
    SLIM_ASSIGN(const txn::Store store, txn::Store::Open(kStorePath, txn::Store::Use::kRead));
    SLIM_TRY(store.Image());
    return {};
  });
}

// The log without what was told. All of that must be there.
std::vector<Operation> StoreOperator::LogBehindTold() {
  const txn::Store store = Unwrap(txn::Store::Open(kStorePath, txn::Store::Use::kRead));
  const auto folded = folded_.find(store.kept_from());
  const std::size_t in_base = folded == folded_.end() ? 0 : folded->second;
  std::vector<Operation> log;
  txn::Update update;
  last_lines_ = 0;
  for (const txn::Batch& batch : store.log().batches()) {
    for (auto rest = batch.words; TakeUpdate(store.shape(), rest, update);) {
      log.push_back({update.kind, update.one, IsOfVertex(update.kind) ? 0 : update.other});
    }
    last_lines_ = batch.progress.lines;
  }
  Adjacency expected = base_;
  for (const Operation& one : std::span(told_).first(in_base)) Take(one, directed_, expected);
  for (const Operation& one : log) Take(one, directed_, expected);
  std::string lists = fmt::format("/sim/{}/lists", kOperator);
  if (log.empty()) {
    lists = store.base().file()->path();
  } else {
    Unwrap(Merge(store.base(), store.shape(), store.log().batches(), txn::kTimeLast, lists, ""));
  }
  world_.Check(ListsOf(lists) == expected, "the lists are not those of the updates");
  const std::size_t told = told_.size() - in_base;
  world_.Check(log.size() >= told && std::equal(log.begin(), log.begin() + told,
                                                told_.begin() + in_base, told_.end()),
               "of {} updates that were told, the base has {} and the log {}, or others",
               told_.size(), in_base, log.size());
  return {log.begin() + static_cast<std::ptrdiff_t>(told), log.end()};
}

// What is in the log behind all that was told is of the pending file, which is there once at most,
// or once for each try if it has no batch id, and of which only whole batches are there.
void StoreOperator::CheckPending(const std::vector<Operation>& behind) {
  const std::size_t once = pending_ ? pending_->operations.size() : 0;
  if (once == 0) return world_.Check(behind.empty(), "{} updates are of no file", behind.size());
  const std::size_t copies = behind.size() / once;
  const std::size_t part = behind.size() % once;
  const std::size_t most = pending_->batch_id.empty() ? tries_ : 1;
  world_.Check(copies + (part > 0 ? 1 : 0) <= most, "{} is applied more than {} times",
               pending_->path, most);
  for (std::size_t i = 0; i < behind.size(); ++i) {
    world_.Check(behind[i] == pending_->operations[i % once], "update {} of {} is another one", i,
                 pending_->path);
  }
  world_.Check(part == 0 || pending_->after_line[last_lines_] == part,
               "{} updates of {} are applied, but {} lines", part, pending_->path, last_lines_);
  world_.Check(copies > 0 || pending_->after_line[told_lines_] <= part,
               "{} updates of {} are applied, but {} lines were told", part, pending_->path,
               told_lines_);
}

}  // namespace

std::vector<Scenario> DiskScenarios() {
  return {
      {"store-apply", "updates of a store survive kills and power cuts, and are applied once",
       [](World& world) {
         GraphPath(false);  // outside of the simulation, whose random numbers it would use
         const auto done = std::make_shared<bool>(false);
         world.scheduler().Start(kOperator, "operator", [&world, done] {
           StoreOperator(world).Work();
           *done = true;
         });
         return [done]() -> std::string { return *done ? "" : "the operator has not finished"; };
       }},
  };
}

}  // namespace slimgraph::test
