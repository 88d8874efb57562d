#include "slimgraph/launch/job.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "slimgraph/base/check.h"
#include "slimgraph/launch/internal/control_plane.h"
#include "slimgraph/launch/internal/host_identity.h"
#include "slimgraph/launch/internal/launcher_link.h"
#include "slimgraph/launch/internal/pmi.h"
#include "slimgraph/launch/sockets.h"
#include "slimgraph/launch/started_by.h"

namespace slimgraph {
namespace {

constexpr int kInterrupted = 130;
constexpr std::size_t kMaxAddresses = 16;
const std::string kHere = "+";
const std::string kCome = "!";
constexpr std::chrono::milliseconds kLook{1};  // how often it is looked for word of a death

std::string NewSecret() {
  std::array<std::uint64_t, 2> random{};
  static_cast<void>(::getrandom(random.data(), sizeof random, 0));
  return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

// "identity secret host:port,host:port…" with '|' between, as PMI values hold no blanks.
std::string DescribeHub(const JobPlace& place, const std::string& identity) {
  const char* const named = std::getenv("SLIMGRAPH_HOST");
  std::string text = identity + "|" + place.secret + "|";
  auto hosts = named != nullptr ? std::vector<std::string>{named} : HostAddresses();
  // As many as a value of PMI holds; loopback, the last, is for neighbours, who need no list.
  if (hosts.size() > kMaxAddresses) hosts.resize(kMaxAddresses);
  for (const std::string& host : hosts) {
    text += fmt::format("{}:{},", host, PortOf(place.listener.get()));
  }
  text.pop_back();
  return text;
}

Status ReadHub(std::string_view text, const std::string& identity, JobPlace& place) {
  const std::size_t first = text.find('|');
  const std::size_t second = text.find('|', first + 1);
  if (second == std::string_view::npos) return EnvironmentError("PMI lost node 0's address");
  place.secret = text.substr(first + 1, second - first - 1);
  place.hub_address = text.substr(second + 1);
  if (text.substr(0, first) == identity) {
    place.hub_address = "127.0.0.1" + place.hub_address.substr(place.hub_address.rfind(':'));
  }
  return {};
}

Result<JobPlace> PlaceFromPmi(Pmi& pmi) {
  JobPlace place;
  place.self = pmi.rank();
  place.nodes = pmi.size();
  const std::string identity = HostIdentity();
  std::string mine;
  if (place.self == 0) {
    place.secret = NewSecret();
    SLIM_ASSIGN(place.listener, ListenOnAnyPort("0.0.0.0"));
    mine = DescribeHub(place, identity);
  }
  SLIM_ASSIGN(const std::string hub, pmi.ShareFromZero(mine));
  SLIM_TRY(ReadHub(hub, identity, place));
  return place;
}

// The last words of this process, to the launcher if there is one.
void Say(const LauncherLink* link, int exit_code, const std::string& line) {
  if (link != nullptr) {
    link->ReportExit(exit_code, line);
  } else {
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  }
}

}  // namespace

// What only a job that a launcher started has.
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
  // hydra tells survivors of a death by this signal; we hear of it from the control plane.
  std::signal(SIGUSR1, SIG_IGN);
  const auto launched = std::make_shared<Launched>(Launched{pmi, std::move(link)});
  const auto give_up = [&](const Error& error) {
    Say(launched->link.get(), error.exit_code(),
        fmt::format("slimgraph: node {}: {}\n", pmi.rank(), error.message));
    launched->pmi.Abort(error.exit_code());
    ::_exit(error.exit_code());
  };
  auto place = PlaceFromPmi(launched->pmi);
  if (!place) give_up(place.error());
  std::vector<int> depends_on;
  if (launched->link) depends_on.push_back(launched->link->fd());
  auto job = Form(std::move(*place), on_loss, launched, std::move(depends_on));
  if (!job) give_up(job.error());
  // hydra kills all at once when a process dies whose PMI is open: too early for a word of ours.
  if (pmi_use == PmiUse::kFormJob) launched->pmi.Finalize();
  return job;
}

Result<std::unique_ptr<Job>> Job::Join(JobPlace place, OnLoss on_loss) {
  return Form(std::move(place), on_loss, nullptr, {});
}

Result<std::unique_ptr<Job>> Job::Form(JobPlace place, OnLoss on_loss,
                                       std::shared_ptr<Launched> launched,
                                       std::vector<int> depends_on) {
  std::unique_ptr<Job> job(new Job);
  job->self_ = place.self;
  job->nodes_ = place.nodes;
  job->launched_ = std::move(launched);
  const auto lost = [raw = job.get(), on_loss](const Loss& loss) {
    if (on_loss == OnLoss::kEndJob) raw->EndProcess(loss);
  };
  const auto orphaned = [] { ::_exit(kInterrupted); };
  SLIM_ASSIGN(job->control_, ControlPlane::Form(std::move(place), HostIdentity(), lost,
                                                std::move(depends_on), orphaned));
  job->hosts_ = job->control_->roster().hosts;
  job->addresses_ = job->control_->roster().addresses;
  return job;
}

Job::Job() = default;
Job::~Job() = default;

// On the control thread, while the others may be anywhere: nothing but this may run any more.
void Job::EndProcess(const Loss& loss) {
  std::string line;
  if (!loss.announced && self_ <= 1) {
    line = fmt::format("slimgraph: node {}: {}\n", loss.node, loss.reason);
  }
  Say(launched_ ? launched_->link.get() : nullptr, loss.exit_code, line);
  control_->Drain();
  ::_exit(loss.exit_code);
}

Result<std::vector<std::string>> Job::Exchange(std::string_view mine) {
  if (!control_) return std::vector<std::string>{std::string(mine)};
  if (members_.empty()) return control_->Exchange(mine, /*last=*/false);
  // Of the dead nothing comes, so what comes of the others is more than nothing.
  SLIM_ASSIGN(auto all, control_->Exchange(kHere + std::string(mine), false, line_, members_));
  std::vector<std::string> parts;
  for (const NodeId node : members_) {
    if (all[node].empty()) return EnvironmentError("node {} has died", node);
    parts.push_back(all[node].substr(kHere.size()));
  }
  return parts;
}

// Which exchanges are whose they all know, for they have formed as many parts.
Result<std::unique_ptr<Job>> Job::OfTheLiving(std::uint32_t line) {
  if (!control_) return Alone();
  SLIM_CHECK(members_.empty() && line > 0 && line < kLines, "line {}", line);
  std::vector<std::string> all;
  do {
    SLIM_ASSIGN(all, control_->Exchange(kHere, /*last=*/false, line));
  } while (std::find(all.begin(), all.end(), kCome) != all.end());
  std::unique_ptr<Job> part(new Job);
  part->control_ = control_;
  part->line_ = control_->LineOfNextPart(line);
  for (NodeId node = 0; node < nodes_; ++node) {
    if (all[node].empty()) continue;
    if (node == self_) part->self_ = static_cast<NodeId>(part->members_.size());
    part->members_.push_back(node);
    part->hosts_.push_back(hosts_[node]);
    part->addresses_.push_back(addresses_[node]);
  }
  part->nodes_ = static_cast<NodeId>(part->members_.size());
  return part;
}

Result<bool> Job::AllHaveCome() {
  if (!control_) return true;
  SLIM_ASSIGN(const auto all, control_->Exchange(kCome, /*last=*/false, line_ % kLines));
  return std::all_of(all.begin(), all.end(),
                     [](const std::string& word) { return word.empty() || word == kCome; });
}

bool Job::whole() const {
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!alive(node)) return false;
  }
  return true;
}

bool Job::GiveUp(const Error& error) {
  if (!control_) return true;
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kWordOfDeathNs);
  while (whole() && control_->survives_deaths() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLook);
  }
  if (whole()) control_->GiveUpLine(line_, error);
  return !alive(self_);
}

std::optional<Error> Job::given_up(std::uint32_t line) const {
  return control_ ? control_->given_up(line) : std::nullopt;
}

// Who is through learns whether all are: a death at the very end keeps some from it.
Result<std::uint64_t> Job::WorkAmongTheLiving(std::uint32_t line,
                                              const std::function<Status(Job&)>& work) {
  for (std::uint64_t anew = 0;; ++anew) {
    SLIM_ASSIGN(const auto part, OfTheLiving(line));
    const Status done = work(*part);
    if (done) {
      SLIM_ASSIGN(const bool all, part->AllHaveCome());
      if (all) return anew;
      continue;
    }
    part->GiveUp(done.error());
    if (auto error = given_up(line)) return tl::unexpected<Error>(*error);
    if (part->whole()) return tl::unexpected<Error>(done.error());
  }
}

bool Job::alive(NodeId node) const {
  if (!control_) return true;
  const NodeId number = number_in_whole(node);
  return control_->alive(number) && (line_ == 0 || !control_->gave_up(line_, number));
}

void Job::SurviveDeaths(bool survive) {
  if (control_) control_->SurviveDeaths(survive);
}

std::string Job::loss() const { return control_ ? control_->loss() : ""; }

LossWatch Job::WatchLoss(std::function<void(NodeId)> watcher) {
  auto shared = std::make_shared<LossWatch::Watcher>();
  shared->call = std::move(watcher);
  shared->line = line_;
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
    std::fputs(fmt::format("slimgraph: {}\n", error.message).c_str(), stderr);
    std::fflush(nullptr);
    ::_exit(error.exit_code());
  }
  control_->Fail(error.exit_code(), error.message);
}

void Job::LeavePmi() {
  if (launched_) launched_->pmi.Finalize();
}

Status Job::Leave(int exit_code) {
  if (!control_) return {};
  const auto all_here = control_->Exchange("", /*last=*/true);
  // A hub that is gone after the last exchange has seen everybody.
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
