#include "dgemini/exchange.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/waits.h"

namespace slimgraph::dgemini {

Exchange::Exchange(Cluster& cluster, HandlerId handler, NodeId nodes)
    : cluster_(cluster),
      endpoint_(cluster.fabric().endpoint(0)),
      self_(cluster.self()),
      handler_id_(handler),
      stage_(handler == kReductionHandler ? StageNamed("reduce") : kUnnamedStage),
      nodes_(nodes),
      last_of_(nodes),
      last_to_(nodes),
      theirs_(nodes) {
  handler_ = cluster.fabric().SetHandler(handler, [this](Endpoint&, const Message& message) {
    Receive(message.from.node, message.body);
  });
}

void Exchange::Receive(NodeId from, Bytes body) {
  Header header;
  std::memcpy(&header, body.data(), sizeof header);
  if (open_ && header.number == number_) return Take(from, body);
  early_.push_back({from, {body.begin(), body.end()}});
}

void Exchange::Take(NodeId from, Bytes body) {
  Header header;
  std::memcpy(&header, body.data(), sizeof header);
  const Bytes rest = body.subspan(sizeof header);
  if (header.place == kLastWithValues) {
    if (!rest.empty()) std::memcpy(theirs_[from].data(), rest.data(), rest.size());
  } else if (!rest.empty()) {
    consume_(from, rest);
  }
  if (header.place == kNotLast) return;
  last_of_[from] = number_;
  ++last_seen_;
}

void Exchange::BeginBetween(Nodes senders, Nodes receivers, Consume consume) {
  senders_ = senders;
  receivers_ = receivers;
  awaited_ = receivers.Has(self_) ? senders.count() - (senders.Has(self_) ? 1 : 0) : 0;
  ++number_;
  last_seen_ = 0;
  consume_ = std::move(consume);
  open_ = true;
  if (early_.empty()) return;
  std::vector<Early> later;
  for (Early& early : early_) {
    Header header;
    std::memcpy(&header, early.body.data(), sizeof header);
    if (header.number == number_) {
      Take(early.from, early.body);
    } else {
      later.push_back(std::move(early));
    }
  }
  early_ = std::move(later);
}

template <typename Done>
Status Exchange::Await(Done done) {
  bool lost = false;
  const auto over = [&] {
    if (done()) return true;
    // A lost memory node counts, too: its delegate gives up and sends nothing more.
    lost = !cluster_.job().all_alive();
    return lost;
  };
  const std::uint64_t start_ns = NowNs();
  WaitAndLog(
      self_, [&](auto limit) { return endpoint_.WaitUntil(over, limit); },
      [this] { return DescribeWait(); });
  waited_ns_ += NowNs() - start_ns;
  if (lost) return EnvironmentError("a node was lost: {}", cluster_.job().loss());
  return {};
}

std::string Exchange::DescribeWait() const {
  if (!endpoint_.all_sent()) {
    return fmt::format("room for messages at {}", NodesInWords(endpoint_.AwaitedNodes()));
  }
  std::vector<NodeId> nodes;
  for (NodeId node = senders_.first; node < senders_.end; ++node) {
    if (node != self_ && last_of_[node] != number_) nodes.push_back(node);
  }
  return fmt::format("the last message of {} in exchange {}", NodesInWords(nodes), number_);
}

Status Exchange::Send(NodeId to, MutableBytes body) { return SendAs(kNotLast, to, body); }

Status Exchange::SendLast(NodeId to, MutableBytes body) {
  last_to_[to] = number_;
  return SendAs(kLastWithData, to, body);
}

void Exchange::Post(NodeId to, Bytes message) {
  const StageId before = endpoint_.stage();
  if (stage_ != kUnnamedStage) endpoint_.SetStage(stage_);
  endpoint_.Send({to, 0}, handler_id_, message);
  endpoint_.SetStage(before);
}

Status Exchange::SendAs(Place place, NodeId to, MutableBytes body) {
  const Header header{number_, place};
  std::memcpy(body.data(), &header, sizeof header);
  Post(to, body);
  if (endpoint_.all_sent()) return {};
  return Await([this] { return endpoint_.all_sent(); });
}

Status Exchange::End() {
  const Header header{number_, kLastWithData};
  for (NodeId i = 0; i < peers(); ++i) {
    if (!SendsTo(peer(i)) || last_to_[peer(i)] == number_) continue;
    Post(peer(i), std::as_bytes(std::span(&header, 1)));
  }
  return AwaitLast();
}

Status Exchange::EndWithValues(Bytes mine) {
  SLIM_CHECK(open_ && mine.size() <= sizeof(ValueBytes));
  if (!mine.empty()) std::memcpy(theirs_[self_].data(), mine.data(), mine.size());
  std::array<std::byte, sizeof(Header) + sizeof(ValueBytes)> body;
  const Header header{number_, kLastWithValues};
  std::memcpy(body.data(), &header, sizeof header);
  if (!mine.empty()) std::memcpy(body.data() + sizeof header, mine.data(), mine.size());
  for (NodeId i = 0; i < peers(); ++i) {
    Post(peer(i), Bytes(body).first(sizeof header + mine.size()));
  }
  return AwaitLast();
}

Status Exchange::AwaitLast() {
  if (peers() > 0) {
    SLIM_TRY(Await([this] { return last_seen_ == awaited_ && endpoint_.all_sent(); }));
  }
  open_ = false;
  return {};
}

}  // namespace slimgraph::dgemini
