#include "txnlayer/internal/engine/quiescence.h"

#include <cstring>
#include <deque>

#include "txnlayer/internal/engine/rpc.h"

namespace slimgraph::txn {
namespace {

// A thread's report that it rests, to endpoint 0 of node 0. When all threads rest, the stop goes
// back.
constexpr HandlerId kAtRestHandler = 0x7A02;
constexpr HandlerId kStopHandler = 0x7A03;
// A request to rest: to endpoint 0 of node 0, and from there to all other nodes.
constexpr HandlerId kAskHandler = 0x7A04;
constexpr HandlerId kWantedHandler = 0x7A05;

struct Wanted {
  std::uint32_t reason;
  std::uint32_t number;
  std::uint32_t round;  // in which it was sent
};

template <typename T>
T Read(const Message& message) {
  T value;
  std::memcpy(&value, message.body.data(), sizeof value);
  return value;
}

template <typename T>
void SendTo(Endpoint& endpoint, EndpointAddress to, HandlerId handler, const T& value) {
  endpoint.Send(to, handler, std::as_bytes(std::span(&value, 1)));
}

}  // namespace

Quiescence::Quiescence(Fabric& fabric, std::uint32_t threads)
    : fabric_(fabric), threads_(threads), at_rest_(std::size_t{fabric.nodes()} * threads) {
  const auto handle = [&](HandlerId handler, auto handled) {
    handlers_.push_back(fabric.SetHandler(handler, std::move(handled)));
  };
  handle(kAtRestHandler, [this](Endpoint& endpoint, const Message& message) {
    at_rest_[message.from.node * threads_.size() + message.from.endpoint] = Read<Report>(message);
    StopIfAllRest(endpoint);
  });
  handle(kStopHandler, [this](Endpoint& endpoint, const Message& message) {
    const auto report = Read<Report>(message);
    // If threads report again before they have received the stop, a second one follows it. All
    // nodes do the work of the first: at_stop_ must not change meanwhile.
    bool& stops = threads_[endpoint.address().endpoint].stop;
    if (report.round != round_ || stops) return;
    for (std::size_t reason = 0; reason < kReasons; ++reason) {
      at_stop_[reason] = report.counts[reason];
    }
    stops = true;
  });
  // The thread that sends the stops also handles these requests, so neither can overtake the other.
  // It announces the request in this turn of its loop.
  handle(kAskHandler, [this](Endpoint&, const Message& message) {
    const auto asked = Read<Wanted>(message);
    // Otherwise another node has asked for the same rest.
    if (asked.number == wanted_[asked.reason] + 1) wanted_[asked.reason] = asked.number;
  });
  handle(kWantedHandler, [this](Endpoint&, const Message& message) {
    const auto wanted = Read<Wanted>(message);
    if (wanted.reason == kStopTheWorld && wanted.round < first_round_) return;  // withdrawn
    wanted_[wanted.reason] = wanted.number;
  });
}

void Quiescence::BeginRound() {
  ++round_;
  for (Thread& thread : threads_) thread.stop = false;
}

void Quiescence::WithdrawStops() {
  first_round_ = round_;
  const std::uint32_t done = done_[kStopTheWorld];
  wanted_[kStopTheWorld] = done;
  announced_[kStopTheWorld] = done;
  for (Thread& thread : threads_) thread.noted[kStopTheWorld] = done;
}

void Quiescence::NoteDeath(NodeId node) {
  const std::lock_guard lock(dead_mutex_);
  dead_.push_back(node);
  wanted_[kDeath].store(static_cast<std::uint32_t>(dead_.size()), std::memory_order_release);
}

void Quiescence::RequestOnNode0(Reason reason, std::uint32_t number) {
  wanted_[reason] = number;
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
    fabric_.endpoint(thread).Wake();
  }
}

void Quiescence::RequestViaNode0(Reason reason, Endpoint& endpoint) {
  SendTo(endpoint, {0, 0}, kAskHandler, Wanted{reason, done_[reason] + 1, round_});
}

// On node 0's first thread: announces new requests to all other threads.
void Quiescence::AnnounceRequests(Worker& worker) {
  for (const Reason reason : {kSweep, kStopTheWorld}) {
    const std::uint32_t number = wanted_[reason];
    if (number == announced_[reason]) continue;
    announced_[reason] = number;
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      if (thread != worker.index()) fabric_.endpoint(thread).Wake();
      for (NodeId node = 1; node < fabric_.nodes(); ++node) {
        SendTo(worker.endpoint(), {node, thread}, kWantedHandler, Wanted{reason, number, round_});
      }
    }
  }
}

bool Quiescence::NoteRequests(Worker& worker) {
  if (fabric_.self() == 0 && worker.index() == 0) AnnounceRequests(worker);
  Counts& noted = threads_[worker.index()].noted;
  for (const Reason reason : {kSweep, kStopTheWorld}) {
    const std::uint32_t number = wanted_[reason];
    if (number == noted[reason]) continue;
    noted[reason] = number;
    worker.ReportRestAgain();
    worker.WakeIdle();
  }
  const std::uint32_t deaths = wanted(kDeath);
  if (deaths == noted[kDeath]) return false;
  for (const NodeId node : DeadBetween(noted[kDeath], deaths)) worker.Lose(node);
  noted[kDeath] = deaths;
  return true;
}

void Quiescence::ReportAtRest(Worker& worker) {
  SendTo(worker.endpoint(), {0, 0}, kAtRestHandler, Report{round_, threads_[worker.index()].noted});
}

// Only node 0's first thread may read the reports, as its handler writes them.
std::string Quiescence::DescribeWait(const Worker& worker) const {
  if (fabric_.self() != 0 || worker.index() != 0) {
    return "node 0's report that all transactions rest";
  }
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < fabric_.nodes(); ++node) {
    for (std::size_t thread = 0; thread < threads_.size() && fabric_.alive(node); ++thread) {
      const Report& report = at_rest_[node * threads_.size() + thread];
      bool rests = report.round == round_;
      for (std::size_t i = 0; i < kReasons; ++i) rests = rests && report.counts[i] == wanted_[i];
      if (!rests) nodes.push_back(node);
    }
  }
  if (nodes.empty()) return "the report that all transactions rest";
  return "transactions to rest on " + NodesInWords(std::move(nodes));
}

// On node 0: stops the round if all threads of all living nodes rest and have noted all requests.
// (A node ceases to be alive() a little before its death is reported to NoteDeath().)
void Quiescence::StopIfAllRest(Endpoint& endpoint) {
  Report stop{round_, {}};
  for (std::size_t reason = 0; reason < kReasons; ++reason) stop.counts[reason] = wanted_[reason];
  std::uint32_t dead = 0;
  for (NodeId node = 0; node < fabric_.nodes(); ++node) {
    if (!fabric_.alive(node)) {
      ++dead;
      continue;
    }
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      const Report& report = at_rest_[node * threads_.size() + thread];
      if (report.round != stop.round || report.counts != stop.counts) return;
    }
  }
  if (dead != stop.counts[kDeath]) return;
  for (NodeId node = 0; node < fabric_.nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      SendTo(endpoint, {node, thread}, kStopHandler, stop);
    }
  }
}

// A reply implies that all earlier requests to that thread have been handled. Threads of one node
// send each other requests, too.
void Quiescence::AwaitSentRequests(Task& task) {
  Pending pending;
  std::deque<Call> calls;
  for (NodeId node = 0; node < fabric_.nodes(); ++node) {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      if (node == fabric_.self() && thread == task.worker().index()) continue;
      Call& call = calls.emplace_back();
      call.to = {node, thread};
      const CallHeader header{.what = kEmptyRequest};
      call.request.resize(sizeof header);
      std::memcpy(call.request.data(), &header, sizeof header);
      task.worker().Send(call, &pending);
    }
  }
  task.Await(pending);
}

std::vector<NodeId> Quiescence::newly_dead() const {
  return DeadBetween(done_[kDeath], at_stop_[kDeath]);
}

std::vector<NodeId> Quiescence::dead() const { return DeadBetween(0, done_[kDeath]); }

std::vector<NodeId> Quiescence::DeadBetween(std::uint32_t begin, std::uint32_t end) const {
  const std::lock_guard lock(dead_mutex_);
  return {dead_.begin() + begin, dead_.begin() + end};
}

}  // namespace slimgraph::txn
