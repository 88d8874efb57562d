// The transport of a simulation. It promises what transport.h and endpoint.h say, and no more.
#ifdef SLIMGRAPH_SIM
#include <sys/mman.h>

#include <charconv>
#include "slimgraph/base/check.h"
#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/sim/network.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/make_transport.h"
#include "slimgraph/fabric/internal/open_channels.h"
#include "slimgraph/fabric/internal/pages.h"
#include "slimgraph/fabric/internal/sim/mail_port.h"
#include "slimgraph/fabric/internal/sim/operation_link.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {
namespace {

using sim::Scheduler;

constexpr std::uint64_t kPollNs = 300;
constexpr std::uint64_t kPostNs = 100;
constexpr std::uint64_t kOperationNs = 20;
constexpr std::uint64_t kFreeNs = 20'000;
constexpr std::uint64_t kMessageNs = 100;  // for its sender, and for its receiver
constexpr std::uint32_t kLeastRoom = 2;    // in messages
constexpr std::uint64_t kPollsPerAbsence = 500;
constexpr std::uint64_t kLongestAbsenceNs = 60'000'000;

// The messages from one endpoint to another.
struct MailRoute {
  std::shared_ptr<SimTarget> target;
  EndpointAddress to;
  NodeId own_node;                 // in the simulation
  std::vector<SimMail> under_way;  // mostly one; an empty deque would take 600 bytes
  std::uint64_t last_arrival_ns = 0;
  bool broken = false;  // the sender has died, and nothing arrives any more
};

// Delivers the first message. Each message causes one such event.
void DeliverMail(const std::shared_ptr<MailRoute>& route) {
  Scheduler& scheduler = *Scheduler::Current();
  if (scheduler.ended(route->own_node) && scheduler.Random(2) == 0) route->broken = true;
  if (route->broken || route->target->gone()) return;
  if (scheduler.network().IsCut(route->own_node, route->target->node)) {
    return scheduler.At(scheduler.now_ns() + kSimTryAgainNs, [route] { DeliverMail(route); });
  }
  SimInbox& inbox = route->target->inboxes[route->to.endpoint];
  inbox.mail.push_back(std::move(route->under_way.front()));
  route->under_way.erase(route->under_way.begin());
  inbox.Wake();
}

class SimChannel;

class SimTransport : public Transport {
 public:
  SimTransport(Job& job, std::uint32_t endpoints, bool by_datagrams)
      : job_(job),
        endpoints_(endpoints),
        by_datagrams_(by_datagrams),
        own_(std::make_shared<SimTarget>(Scheduler::Current()->node(), job.nodes(), endpoints)),
        channels_(job, endpoints) {}
  Status Open();

  std::string_view name() const override { return by_datagrams_ ? "sim-datagrams" : "sim"; }
  Result<RegionMemory> Allocate(std::uint64_t bytes) override { return AllocatePages(bytes); }
  Result<RegionMemory> Adopt(const SharedMemory& memory, bool writable) override {
    return RegionMemory{memory.base(), memory.bytes(), writable, /*owned=*/false};
  }
  void Clear(const RegionMemory& memory) override { DiscardPages(memory, MADV_DONTNEED); }
  // This takes a while, in which other nodes go on.
  void Free(const RegionMemory& memory) override {
    FreePages(memory);
    if (!Scheduler::Current()->calibrated()) Scheduler::Current()->Spend(kFreeNs);
  }
  Status Publish(RegionId id, const RegionMemory& mine,
                 std::span<const std::uint64_t> /*bytes_of_node*/) override {
    own_->regions[id].memory = mine;
    return {};
  }
  Status Revoke(RegionId id) override {
    SimRegion& region = own_->regions[id];
    region.revoked = true;
    while (region.executing > 0) SleepFor(std::chrono::microseconds(1));
    return {};
  }
  bool survives_deaths() const override { return true; }
  Status Fence(NodeId node) override {
    own_->fenced.insert(node);
    while (own_->executing[node] > 0) SleepFor(std::chrono::microseconds(1));
    return {};
  }
  bool own_atomics_by_processor() const override { return own_atomics_by_processor_; }
  std::unique_ptr<Channel> OpenChannel(std::uint32_t endpoint, Faults& faults) override;
  Status Close() override {
    const auto everyone = job_.Exchange("");
    Stop();
    SLIM_TRY(everyone);
    return {};
  }
  void Stop() override {
    background_poller_.reset();
    own_->stopped = true;
    for (auto& [id, region] : own_->regions) {
      while (region.executing > 0) SleepFor(std::chrono::microseconds(1));
    }
    for (const auto& link : links_) link->Abandon();
    links_.clear();
  }

  const Job& job() const { return job_; }
  std::uint32_t endpoints() const { return endpoints_; }
  SimTarget& own() { return *own_; }
  const std::shared_ptr<SimTarget>& target(NodeId node) const { return targets_[node]; }
  OpenChannels<SimChannel>& channels() { return channels_; }
  // Null unless messages travel as datagrams.
  SimMailbox* mailbox(std::uint32_t endpoint) const {
    return by_datagrams_ ? mailboxes_[endpoint].get() : nullptr;
  }
  void Add(const std::shared_ptr<SimOperationLink>& link) { links_.push_back(link); }

 private:
  void OpenMailboxes();

  Job& job_;
  const std::uint32_t endpoints_;
  const bool by_datagrams_;
  bool own_atomics_by_processor_ = true;
  const std::shared_ptr<SimTarget> own_;
  std::vector<std::shared_ptr<SimTarget>> targets_;  // by node
  std::vector<std::shared_ptr<SimOperationLink>> links_;
  std::vector<std::unique_ptr<SimMailbox>> mailboxes_;  // by endpoint
  std::unique_ptr<BackgroundPoller<SimMailPort>> background_poller_;
  OpenChannels<SimChannel> channels_;
};

class SimChannel : public Channel {
 public:
  SimChannel(SimTransport& transport, std::uint32_t endpoint, Faults& faults)
      : transport_(transport),
        self_{transport.job().self(), endpoint},
        inbox_(transport.own().inboxes[endpoint]),
        mailbox_(transport.mailbox(endpoint)),
        links_(transport.job().nodes()),
        routes_(inbox_.unread.size()) {
    if (mailbox_ == nullptr) return;
    mailbox_->SetFaults(&faults);
    loss_ = true;  // nodes may have died before this endpoint was opened
  }
  ~SimChannel() override {
    if (mailbox_ != nullptr) {
      mailbox_->Close([this](std::chrono::nanoseconds limit) {
        if (std::exchange(loss_, false)) LoseDeadNodes();
        Sleep(limit);
      });
    }
    transport_.channels().Close(self_.endpoint);
  }

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues) override {
    Scheduler::Current()->Spend(kPostNs + kOperationNs * operations.size());
    auto& link = links_[operations[0].node];
    if (!link) {
      link = std::make_shared<SimOperationLink>(self_.node, transport_.own(), inbox_,
                                                transport_.target(operations[0].node));
      transport_.Add(link);
      if (!transport_.job().alive(operations[0].node)) link->Lose();
    }
    link->Post(id, operations, continues);
  }

  void Poll(std::vector<PartResult>& ended,
            const std::function<void(const Message&)>& receive) override {
    Scheduler::Current()->Spend(kPollNs);
    inbox_.woken = false;
    if (std::exchange(loss_, false)) LoseDeadNodes();
    ended.insert(ended.end(), inbox_.ended.begin(), inbox_.ended.end());
    inbox_.ended.clear();
    if (mailbox_ != nullptr) {
      DoOtherWork();
      // Like verbs, it does not always look for messages when operations have ended.
      if (ended.empty() || Scheduler::Current()->Random(2) == 0) mailbox_->Poll(receive);
      return;
    }
    while (!inbox_.mail.empty()) {
      SimMail mail = std::move(inbox_.mail.front());
      inbox_.mail.pop_front();
      Scheduler::Current()->Work(kMessageNs);
      --inbox_.unread[transport_.own().NumberOf(mail.message.from)];
      mail.message.body = mail.body;
      receive(mail.message);
    }
  }

  bool Send(EndpointAddress to, const Message& message) override {
    if (mailbox_ != nullptr) return mailbox_->Send(to, message);
    Scheduler& scheduler = *Scheduler::Current();
    if (!transport_.job().all_alive() && !transport_.job().alive(to.node)) return true;
    const std::shared_ptr<SimTarget>& target = transport_.target(to.node);
    if (target->stopped) return true;
    // Sometimes there is little room.
    std::uint32_t& unread = target->inboxes[to.endpoint].unread[target->NumberOf(self_)];
    const bool little = !scheduler.calibrated() && scheduler.Random(8) == 0;
    if (unread >= kLeastRoom + (little ? 0 : 100)) return false;
    ++unread;
    scheduler.Work(kMessageNs);
    std::shared_ptr<MailRoute>& route = routes_[target->NumberOf(to)];
    if (!route) route = std::make_shared<MailRoute>(target, to, transport_.own().node);
    route->under_way.push_back({message, {message.body.begin(), message.body.end()}});
    route->under_way.back().message.from = self_;
    route->last_arrival_ns =
        std::max(route->last_arrival_ns, scheduler.now_ns() + SimLatencyNs(message.body.size()));
    if (scheduler.calibrated()) {
      // It arrives when it is due, so that its receiver need not wait once more.
      std::uint64_t& due_ns = route->under_way.back().message.due_ns;
      route->last_arrival_ns = std::max(route->last_arrival_ns, std::exchange(due_ns, 0));
    }
    scheduler.At(route->last_arrival_ns, [route] { DeliverMail(route); });
    return true;
  }

  void Park(std::chrono::nanoseconds limit) override {
    if (mailbox_ != nullptr) {
      if (mailbox_->Arm()) return;
      limit = mailbox_->LimitSleep(limit);
    }
    if (!inbox_.woken && !loss_ && inbox_.ended.empty() && inbox_.mail.empty()) Sleep(limit);
    if (mailbox_ != nullptr) mailbox_->NoteAwake();
  }
  void Wake() override { inbox_.Wake(); }
  bool loses_datagrams() const override { return mailbox_ != nullptr; }

  void NoteLoss() {
    loss_ = true;
    Wake();
  }

 private:
  void LoseDeadNodes() {
    for (NodeId node = 0; node < links_.size(); ++node) {
      if (transport_.job().alive(node)) continue;
      if (links_[node]) links_[node]->Lose();
      if (mailbox_ == nullptr) continue;
      mailbox_->Lose(node);
      mailbox_->port().CheckNothingIsSentTo(node);
    }
  }
  // Now and then the thread is away for so long that a mailbox is polled in the background.
  static void DoOtherWork() {
    Scheduler& scheduler = *Scheduler::Current();
    if (scheduler.calibrated() || scheduler.Random(kPollsPerAbsence) != 0) return;
    scheduler.Spend(scheduler.Random(kLongestAbsenceNs));
  }
  void Sleep(std::chrono::nanoseconds limit) {
    Scheduler& scheduler = *Scheduler::Current();
    scheduler.Sleep(inbox_.sleepers, scheduler.now_ns() + static_cast<std::uint64_t>(limit.count()),
                    "its endpoint");
  }

  SimTransport& transport_;
  const EndpointAddress self_;
  SimInbox& inbox_;
  SimMailbox* const mailbox_;                             // null: messages travel as they are
  std::vector<std::shared_ptr<SimOperationLink>> links_;  // by node
  std::vector<std::shared_ptr<MailRoute>> routes_;        // by endpoint of the job
  bool loss_ = false;
};

std::unique_ptr<Channel> SimTransport::OpenChannel(std::uint32_t endpoint, Faults& faults) {
  auto channel = std::make_unique<SimChannel>(*this, endpoint, faults);
  channels_.At(endpoint, [&](SimChannel*& open) { open = channel.get(); });
  return channel;
}

// The targets of all nodes, by their addresses, which nodes tell each other. A node may fail and
// drop its target before another has taken a share.
std::map<std::uintptr_t, std::weak_ptr<SimTarget>>& TargetsByAddress() {
  static std::map<std::uintptr_t, std::weak_ptr<SimTarget>> targets;
  return targets;
}

Status SimTransport::Open() {
  // Of a fixed length, since the time of a message depends on it.
  const auto mine = reinterpret_cast<std::uintptr_t>(own_.get());
  TargetsByAddress()[mine] = own_;
  const bool by_processor =
      Scheduler::Current()->calibrated() || Scheduler::Current()->Random(4) != 0;
  SLIM_ASSIGN(const auto words, job_.Exchange(fmt::format("{:020} {}", mine, int{by_processor})));
  own_atomics_by_processor_ = words[0].ends_with('1');
  for (const std::string& word : words) {
    std::uintptr_t theirs = 0;
    std::from_chars(word.data(), word.data() + word.size(), theirs);
    targets_.push_back(TargetsByAddress()[theirs].lock());
    if (targets_.back()) continue;
    targets_.back() = std::make_shared<SimTarget>(NodeId{0}, job_.nodes(), endpoints_);
    targets_.back()->stopped = true;
  }
  if (by_datagrams_) OpenMailboxes();
  // From here on, all have each other's targets.
  SLIM_TRY(job_.Exchange(""));
  return {};
}

void SimTransport::OpenMailboxes() {
  const SimDatagramRules rules = SimDatagramRules::Draw();
  std::vector<SimMailbox*> mailboxes;
  for (std::uint32_t endpoint = 0; endpoint < endpoints_; ++endpoint) {
    auto port = std::make_unique<SimMailPort>(own_, EndpointAddress{job_.self(), endpoint});
    port->Start(rules, targets_);
    mailboxes_.push_back(std::make_unique<SimMailbox>(std::move(port)));
    mailboxes_.back()->Start(job_, endpoint, endpoints_);
    mailboxes.push_back(mailboxes_.back().get());
  }
  background_poller_ = std::make_unique<BackgroundPoller<SimMailPort>>(std::move(mailboxes));
}

Result<std::unique_ptr<Transport>> Make(Job& job, const FabricOptions& options, bool by_datagrams) {
  auto transport = std::make_unique<SimTransport>(job, options.endpoints, by_datagrams);
  SLIM_TRY(transport->Open());
  return transport;
}

}  // namespace

Result<std::unique_ptr<Transport>> MakeSimTransport(Job& job, const FabricOptions& options) {
  return Make(job, options, /*by_datagrams=*/false);
}

Result<std::unique_ptr<Transport>> MakeSimDatagramTransport(Job& job,
                                                            const FabricOptions& options) {
  return Make(job, options, /*by_datagrams=*/true);
}

}  // namespace slimgraph
#endif
