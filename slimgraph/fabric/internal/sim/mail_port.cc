#ifdef SLIMGRAPH_SIM
#include "slimgraph/fabric/internal/sim/mail_port.h"

#include <algorithm>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/sim/network.h"

namespace slimgraph {
namespace {

using sim::Scheduler;

constexpr std::uint64_t kDatagramNs = 100;  // for its sender, and for its receiver
constexpr std::uint64_t kLateNs = 50'000'000;

struct SimSendRing : SendRing {
  SimSendRing(std::unique_ptr<std::byte[]> memory, std::uint64_t bytes)
      : SendRing({memory.get(), bytes}), owned(std::move(memory)) {}
  const std::unique_ptr<std::byte[]> owned;
};

// How long a device takes for a datagram: it may have others to send.
std::uint64_t DeviceNs() {
  Scheduler& scheduler = *Scheduler::Current();
  if (scheduler.calibrated()) return 0;
  return 50 + scheduler.Random(scheduler.Random(64) == 0 ? 500'000 : 2'000);
}

bool DrawOneOf1000(std::uint32_t share) {
  return share > 0 && Scheduler::Current()->Random(1'000) < share;
}

}  // namespace

SimDatagramRules SimDatagramRules::Draw() {
  Scheduler& scheduler = *Scheduler::Current();
  SimDatagramRules rules;
  if (scheduler.calibrated()) return rules;
  const auto one_of = [&](std::initializer_list<std::uint32_t> values) {
    return *(values.begin() + scheduler.Random(values.size()));
  };
  rules.most_bytes = one_of({256, 1024, 4096});
  rules.lost = one_of({0, 5, 50});
  rules.duplicated = one_of({0, 20});
  rules.late = one_of({0, 10});
  rules.queue = one_of({4, 32, 256});
  rules.buffers = one_of({8, 64, 512});
  return rules;
}

SimMailPort::SimMailPort(std::shared_ptr<SimTarget> own, EndpointAddress self)
    : inbox_(own->inboxes[self.endpoint]), device_(std::make_shared<Device>()) {
  device_->own = std::move(own);
  device_->self = self;
}

SimMailPort::~SimMailPort() {
  device_->closed = true;
  inbox_.buffers = 0;
}

void SimMailPort::Start(const SimDatagramRules& rules,
                        std::vector<std::shared_ptr<SimTarget>> targets) {
  rules_ = device_->rules = rules;
  targets_ = std::move(targets);
  lost_.resize(targets_.size());
  inbox_.buffers = rules.buffers;
}

Result<std::unique_ptr<SendRing>> SimMailPort::MakeRing(std::uint64_t bytes) {
  return std::make_unique<SimSendRing>(std::make_unique<std::byte[]>(bytes), bytes);
}

// A datagram that an injected fault drops counts as one that was sent before.
std::uint64_t SimMailPort::Send(EndpointAddress to, Bytes bytes, const SendRing* ring) {
  SLIM_CHECK(!lost_[to.node], "a datagram is sent to node {}, which has been lost", to.node);
  if (DrawLoss()) return std::max<std::uint64_t>(posted_, 1);
  if (device_->queue.size() >= rules_.queue) return 0;
  Scheduler& scheduler = *Scheduler::Current();
  scheduler.Work(kDatagramNs);
  Datagram& datagram = device_->queue.emplace_back(targets_[to.node], to, bytes);
  if (ring == nullptr) datagram.copy.assign(bytes.begin(), bytes.end());
  device_->last_ns = std::max(device_->last_ns, scheduler.now_ns()) + DeviceNs();
  scheduler.At(device_->last_ns, [device = device_] { SendFirst(device); });
  return ++posted_;
}

void SimMailPort::SendFirst(const std::shared_ptr<Device>& device) {
  if (device->closed) return;
  const auto datagram = std::make_shared<Datagram>(std::move(device->queue.front()));
  device->queue.pop_front();
  ++device->sent;
  if (datagram->copy.empty()) {
    datagram->copy.assign(datagram->bytes.begin(), datagram->bytes.end());
  }
  Scheduler& scheduler = *Scheduler::Current();
  const bool dead = scheduler.ended(device->own->node) && scheduler.Random(2) == 0;
  if (dead || DrawOneOf1000(device->rules.lost)) return;
  for (int copies = DrawOneOf1000(device->rules.duplicated) ? 2 : 1; copies > 0; --copies) {
    const std::uint64_t late_ns = DrawOneOf1000(device->rules.late) ? scheduler.Random(kLateNs) : 0;
    scheduler.At(scheduler.now_ns() + SimLatencyNs(datagram->copy.size()) + late_ns,
                 [device, datagram] { Deliver(*device, *datagram); });
  }
}

void SimMailPort::Deliver(const Device& device, const Datagram& datagram) {
  Scheduler& scheduler = *Scheduler::Current();
  if (scheduler.ended(datagram.target->node)) return;
  if (scheduler.network().IsCut(device.own->node, datagram.target->node)) return;
  SimInbox& inbox = datagram.target->inboxes[datagram.to.endpoint];
  if (inbox.datagrams.size() >= inbox.buffers) return;
  inbox.datagrams.push_back({device.self, datagram.copy});
  if (std::exchange(inbox.armed, false)) inbox.Wake();
}

void SimMailPort::Receive(const std::function<void(Bytes, EndpointAddress)>& take) {
  for (const SimDatagram& datagram : std::exchange(inbox_.datagrams, {})) {
    Scheduler::Current()->Work(kDatagramNs);
    take(datagram.bytes, datagram.from);
  }
}

bool SimMailPort::Arm() {
  inbox_.armed = true;
  return !inbox_.datagrams.empty();
}

}  // namespace slimgraph
#endif
