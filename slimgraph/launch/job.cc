#include "slimgraph/launch/job.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/launch/host_identity.h"
#include "slimgraph/launch/internal/control_plane.h"
#include "slimgraph/launch/internal/launcher_link.h"
#include "slimgraph/launch/internal/pmi.h"
#include "slimgraph/launch/last_line.h"
#include "slimgraph/launch/started_by.h"

namespace slimgraph {
namespace {

constexpr int kInterrupted = 130;
constexpr std::size_t kMaxAddresses = 16;
const std::string kPresent = "+";
const std::string kReached = "!";
constexpr std::chrono::milliseconds kPollForDeaths{1};  // how often to check for notice of a death

// "identity|secret|host:port,host:port…", separated by '|' because PMI values hold no blanks.
std::string DescribeHub(const JoinConfig& config, const std::string& identity) {
  return identity + "|" + config.secret + "|" + HubAddresses(config.listener);
}

Status ReadHub(std::string_view text, const std::string& identity, JoinConfig& config) {
  const std::size_t first = text.find('|');
  const std::size_t second = text.find('|', first + 1);
  if (second == std::string_view::npos) return EnvironmentError("PMI lost node 0's address");
  config.secret = text.substr(first + 1, second - first - 1);
  config.hub_address = text.substr(second + 1);
  if (config.secret.empty()) return EnvironmentError("PMI lost the job's secret");
  if (text.substr(0, first) == identity) {
    config.hub_address = "127.0.0.1" + config.hub_address.substr(config.hub_address.rfind(':'));
  }
  return {};
}

// Our own launcher starts all nodes on its own host, so the hub then listens on loopback only.
Result<JoinConfig> JoinConfigFromPmi(Pmi& pmi, bool all_local) {
  JoinConfig config;
  config.self = pmi.rank();
  config.nodes = pmi.size();
  const std::string identity = HostIdentity();
  std::string mine;
  if (config.self == 0) {
    SLIM_ASSIGN(config.secret, NewSecret());
    SLIM_ASSIGN(config.listener, ListenTcp(all_local ? "127.0.0.1" : "0.0.0.0"));
    mine = DescribeHub(config, identity);
  }
  SLIM_ASSIGN(const std::string hub, pmi.ShareFromZero(mine));
  SLIM_TRY(ReadHub(hub, identity, config));
  return config;
}

// Reports the exit of this process to its launcher, or to stderr if there is none.
void ReportLastLine(const LauncherLink* link, int exit_code, const std::string& line) {
  if (link != nullptr) {
    link->ReportExit(exit_code, line);
  } else {
    WriteLastLine(exit_code, line);
  }
}

}  // namespace

std::string HubAddresses(const UniqueFd& listener) {
  const char* const named = std::getenv("SLIMGRAPH_HOST");
  auto hosts = named != nullptr ? std::vector<std::string>{named} : HostAddresses();
  // A PMI value has room for only so many. The last one, loopback, may be dropped: nodes on the
  // same host replace the address by loopback anyway.
  if (hosts.size() > kMaxAddresses) hosts.resize(kMaxAddresses);
  std::string text;
  for (const std::string& host : hosts) {
    text += fmt::format("{}:{},", host, LocalAddress(listener.get()).port());
  }
  text.pop_back();
  return text;
}

// The state of a job that a launcher has started.
struct Job::Launched {
  Pmi pmi;
  std::unique_ptr<LauncherLink> link;
};

std::unique_ptr<Job> Job::Alone() {
  std::unique_ptr<Job> job(new Job);
  job->hosts_ = {0};
  job->addresses_ = {"127.0.0.1"};
  return job;
}

Result<std::unique_ptr<Job>> Job::JoinFromEnvironment(PmiUse pmi_use, OnLoss on_loss) {
  if (StartedBy() == Starter::kNobody) return Alone();
  SLIM_ASSIGN(auto link, LauncherLink::OpenFromEnvironment(StartedRank()));
  SLIM_ASSIGN(Pmi pmi, Pmi::Open());
  // hydra sends this signal to the survivors of a death; we learn of deaths from the control plane.
  std::signal(SIGUSR1, SIG_IGN);
  const auto launched = std::make_shared<Launched>(Launched{pmi, std::move(link)});
  const auto fail_and_exit = [&](const Error& error) {
    ReportLastLine(launched->link.get(), error.exit_code(),
                   fmt::format("slimgraph: node {}: {}\n", pmi.rank(), error.message));
    launched->pmi.Abort(error.exit_code());
    EndProcess(error.exit_code());
  };
  const bool reports = on_loss == OnLoss::kReport;
  auto config = JoinConfigFromPmi(launched->pmi, launched->link != nullptr);
  if (!config && reports) return tl::unexpected<Error>(config.error());
  if (!config) fail_and_exit(config.error());
  std::vector<int> depends_on;
  if (launched->link) depends_on.push_back(launched->link->fd());
  auto job = Form(std::move(*config), on_loss, launched, std::move(depends_on));
  if (!job && reports) return job;
  if (!job) fail_and_exit(job.error());
  // If a process dies while its PMI is open, hydra kills all processes at once, before any of them
  // can print an error.
  if (pmi_use == PmiUse::kFormJob) launched->pmi.Finalize();
  return job;
}

void Job::CannotJoin(const Error& error) {
  WriteLastLine(error.exit_code(),
                fmt::format("slimgraph: node {}: {}\n", StartedRank(), error.message));
  if (Pmi::Present()) {
    if (auto pmi = Pmi::Open()) pmi->Abort(error.exit_code());
  }
  EndProcess(error.exit_code());
}

Result<std::unique_ptr<Job>> Job::Join(JoinConfig config, OnLoss on_loss) {
  return Form(std::move(config), on_loss, nullptr, {});
}

Result<std::unique_ptr<Job>> Job::Form(JoinConfig config, OnLoss on_loss,
                                       std::shared_ptr<Launched> launched,
                                       std::vector<int> depends_on) {
  std::unique_ptr<Job> job(new Job);
  job->self_ = config.self;
  job->nodes_ = config.nodes;
  job->launched_ = std::move(launched);
  const auto lost = [raw = job.get(), on_loss](const Loss& loss) {
    if (on_loss == OnLoss::kEndJob) raw->EndAfter(loss);
    // Engines that wait for nobody would work on for a job that is over.
    raw->cancelled_.store(true, std::memory_order_relaxed);
  };
  const auto orphaned = [] { EndProcess(kInterrupted); };
  job->secret_ = config.secret;
  job->encrypts_ = config.encrypts;
  job->confined_ = config.confined;
  job->quota_ = config.quota;
  job->host_cache_ = config.host_cache;
  job->before_end_ = std::move(config.before_end);
  SLIM_ASSIGN(job->control_, ControlPlane::Form(std::move(config), HostIdentity()));
  job->hosts_ = job->control_->roster().hosts;
  job->addresses_ = job->control_->roster().addresses;
  job->control_->Start(lost, std::move(depends_on), orphaned);
  return job;
}

Job::Job() = default;
Job::~Job() = default;

// Called on the control thread while other threads may be anywhere, so it exits without
// destructors.
void Job::EndAfter(const Loss& loss) {
  std::string line;
  if (before_end_ && !loss.failed && !loss.announced) {
    control_->Drain();
    const std::string why = before_end_(loss.node, loss.reason);
    if (!why.empty()) line = fmt::format("slimgraph: {}\n", why);
  }
  if (line.empty() && !loss.announced && self_ <= 1) {
    line = fmt::format("slimgraph: node {}: {}\n", loss.node, loss.reason);
  }
  ReportLastLine(launched_ ? launched_->link.get() : nullptr, loss.exit_code, line);
  control_->Drain();
  EndProcess(loss.exit_code);
}

Result<std::vector<std::string>> Job::Exchange(std::string_view mine) {
  if (!control_) return std::vector<std::string>{std::string(mine)};
  if (members_.empty()) return control_->Exchange(mine, /*last=*/false);
  // A dead node's contribution is empty. The prefix makes the contributions of living nodes
  // non-empty.
  SLIM_ASSIGN(auto all, control_->Exchange(kPresent + std::string(mine), false, tag_, members_));
  std::vector<std::string> parts;
  for (const NodeId node : members_) {
    if (all[node].empty()) return EnvironmentError("node {} has died", node);
    parts.push_back(all[node].substr(kPresent.size()));
  }
  return parts;
}

// All nodes agree on the tag of the new part, because they have formed equally many parts.
Result<std::unique_ptr<Job>> Job::FormPart(std::uint32_t tag) {
  if (!control_) return Alone();
  SLIM_CHECK(members_.empty() && tag > 0 && tag < kNumBaseTags, "tag {}", tag);
  std::vector<std::string> all;
  do {
    SLIM_ASSIGN(all, control_->Exchange(kPresent, /*last=*/false, tag));
  } while (std::find(all.begin(), all.end(), kReached) != all.end());
  std::unique_ptr<Job> part(new Job);
  part->control_ = control_;
  part->tag_ = control_->TagOfNextPart(tag);
  part->secret_ = secret_;
  part->encrypts_ = encrypts_;
  part->quota_ = quota_;
  part->quota_.first_lender = 0;
  for (NodeId node = 0; node < nodes_; ++node) {
    if (all[node].empty()) continue;
    if (node == self_) part->self_ = static_cast<NodeId>(part->members_.size());
    if (!quota_.lends(node)) ++part->quota_.first_lender;
    part->members_.push_back(node);
    part->hosts_.push_back(hosts_[node]);
    part->addresses_.push_back(addresses_[node]);
  }
  part->nodes_ = static_cast<NodeId>(part->members_.size());
  return part;
}

Result<bool> Job::AllReached() {
  if (!control_) return true;
  SLIM_ASSIGN(const auto all, control_->Exchange(kReached, /*last=*/false, tag_ % kNumBaseTags));
  return std::all_of(members_.begin(), members_.end(),
                     [&](NodeId node) { return all[node] == kReached; });
}

Result<bool> Job::AllLivingReached() {
  if (!control_) return true;
  SLIM_ASSIGN(const auto all, control_->Exchange(kReached, /*last=*/false, tag_ % kNumBaseTags));
  return std::all_of(all.begin(), all.end(),
                     [](const std::string& word) { return word.empty() || word == kReached; });
}

bool Job::all_alive() const {
  if (!control_ || control_->unharmed()) return true;
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!alive(node)) return false;
  }
  return true;
}

bool Job::AbortPart(const Error& error) {
  if (!control_) return true;
  const std::uint64_t until_ns = NowNs() + kDeathNoticeNs;
  while (all_alive() && control_->survives_deaths() && NowNs() < until_ns) {
    SleepFor(kPollForDeaths);
  }
  if (all_alive()) control_->AbortParts(tag_, error);
  return !alive(self_);
}

std::optional<Error> Job::part_error(std::uint32_t tag) const {
  return control_ ? control_->part_error(tag) : std::nullopt;
}

// A node that has finished still waits to learn whether all have. A death at the very end may have
// prevented others from finishing, and then all repeat the work.
Result<std::uint64_t> Job::RunAmongSurvivors(std::uint32_t tag,
                                             const std::function<Status(Job&)>& work) {
  for (std::uint64_t anew = 0;; ++anew) {
    SLIM_ASSIGN(const auto part, FormPart(tag));
    const Status done = work(*part);
    if (done) {
      SLIM_ASSIGN(const bool all, part->AllLivingReached());
      if (all) return anew;
      continue;
    }
    part->AbortPart(done.error());
    if (auto error = part_error(tag)) return tl::unexpected<Error>(*error);
    if (part->all_alive()) return tl::unexpected<Error>(done.error());
  }
}

bool Job::alive(NodeId node) const {
  if (!control_) return true;
  const NodeId number = node_in_job(node);
  return control_->alive(number) && (tag_ == 0 || !control_->aborted_part(tag_, number));
}

void Job::SurviveDeaths(bool survive) {
  if (control_) control_->SurviveDeaths(survive);
}

std::string Job::loss() const { return control_ ? control_->loss() : ""; }
std::optional<Error> Job::failure() const { return control_ ? control_->failure() : std::nullopt; }

LossWatch Job::WatchLoss(std::function<void(NodeId)> watcher) {
  auto shared = std::make_shared<LossWatch::Watcher>();
  shared->call = std::move(watcher);
  shared->tag = tag_;
  if (!members_.empty()) {
    shared->call = [members = members_, call = std::move(shared->call)](NodeId lost) {
      const auto member = std::find(members.begin(), members.end(), lost);
      if (member != members.end()) call(static_cast<NodeId>(member - members.begin()));
    };
  }
  if (control_) control_->AddWatcher(shared);
  return LossWatch(std::move(shared));
}

LossWatch& LossWatch::operator=(LossWatch&& other) noexcept {
  Stop();
  watcher_ = std::move(other.watcher_);
  return *this;
}

void LossWatch::Stop() {
  if (!watcher_) return;
  const std::lock_guard lock(watcher_->mutex);
  watcher_->call = nullptr;
}

bool Job::one_host() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [&](auto host) { return host == hosts_[0]; });
}

void Job::Fail(const Error& error) {
  if (!control_) {
    WriteLastLine(error.exit_code(), fmt::format("slimgraph: {}\n", error.message));
    std::fflush(nullptr);
    EndProcess(error.exit_code());
  }
  control_->Fail(error.exit_code(), error.message);
}

void Job::Cancel(const Error& error) {
  cancelled_.store(true, std::memory_order_relaxed);
  if (control_) control_->Fail(error.exit_code(), error.message);
}

Result<HandshakeKey> Job::KeyFor(std::string_view purpose) const {
  if (!secret_.empty()) return HandshakeKey::Derive(secret_, purpose);
  SLIM_ASSIGN(const std::string secret, NewSecret());
  return HandshakeKey::Derive(secret, purpose);
}

void Job::LeavePmi() {
  if (launched_) launched_->pmi.Finalize();
}

void Job::LeaveAfter(const Error& error) const {
  if (launched_ && launched_->link) launched_->link->ReportExit(error.exit_code(), "");
}

Status Job::Leave(int exit_code) {
  if (!control_) return {};
  const auto all_here = control_->Exchange("", /*last=*/true);
  // If the hub is gone after the last exchange, it has completed that exchange, so all nodes have
  // reached it.
  if (!all_here && !control_->loss().empty()) {
    return tl::unexpected<Error>(all_here.error());
  }
  control_->SayGoodbye();
  if (launched_) {
    if (launched_->link) launched_->link->ReportExit(exit_code, "");
    launched_->pmi.Finalize();
  }
  return {};
}

}  // namespace slimgraph
