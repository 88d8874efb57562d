// A channel's operations on one node: a part goes out with one doorbell as far as the queue has
// room for it, the rest when there is some again.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "slimgraph/fabric/internal/verbs/link.h"
#include "slimgraph/fabric/internal/verbs/regions.h"
#include "slimgraph/fabric/internal/verbs/ring.h"
#include "slimgraph/fabric/transport.h"

namespace slimgraph {

class VerbsOperationLink : public VerbsLink {
 public:
  // Parts that end are appended to `ended`. `port`: the one of this device whose keys count.
  // `ring`: made when it is first needed; of the lanes to a node one at a time uses it.
  VerbsOperationLink(Shared& shared, const VerbsContact& contact, const TcpHello& hello,
                     std::uint32_t lane, const VerbsRegions& regions, std::size_t port,
                     std::unique_ptr<VerbsRing>& ring, std::vector<Channel::PartResult>& ended);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues);

  // Whether all that was posted has ended.
  bool idle() const { return parts_.empty(); }

 private:
  struct Part {
    std::uint64_t id;
    std::span<const Operation> operations;
    bool continues;
    Outcome refusal = Outcome::kOk;  // of operation number `limit`, which is not tried
    std::size_t limit = 0;
    std::size_t posted = 0;    // operations
    std::uint64_t pieces = 0;  // bytes of the next one that are posted already
    std::size_t done = 0;      // operations
  };
  // A request in flight: an operation, or a piece of a long one.
  struct Request {
    const std::byte* staged;  // what is copied when it is done, if anything
    std::byte* local;
    std::uint32_t bytes;
    bool last;               // of its operation
    std::uint64_t released;  // the ring's position behind it
  };

  Outcome Check(const Operation& operation) const;
  bool Add(Part& part);
  bool MakeRing();
  ibv_send_wr& Stage(const Operation& operation, std::uint64_t at, std::uint32_t bytes,
                     std::byte* staged);
  bool MustWait(OperationKind kind) const;
  void Retire();
  void Settle(Outcome outcome, bool refused);
  void End(const Part& part, Outcome outcome, std::size_t failed_index);

  void OnDone(std::size_t count) override;
  void OnConnected(const VerbsReply& reply) override;
  void OnRoom() override;
  void OnBroken(Outcome outcome) override;
  void OnHopeless(Outcome outcome) override;

  const VerbsRegions& regions_;
  const std::size_t port_;
  std::vector<Channel::PartResult>& ended_;
  std::vector<bool> revoked_;  // by region
  std::unique_ptr<VerbsRing>& ring_;
  std::deque<Part> parts_;
  std::size_t next_ = 0;  // of parts_: the first that is not posted entirely
  std::deque<Request> requests_;
  bool unsettled_ = false;    // the part in front has failed, and the new queue pair will tell why
  bool doomed_ = false;       // a part that continues the last one is not to be tried
  bool reads_ahead_ = false;  // among requests_
  bool atomics_ahead_ = false;
};

}  // namespace slimgraph
