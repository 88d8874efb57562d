// A channel's operations on one node. A part is posted with one doorbell if the queue has room for
// it. The rest is posted when there is room again.
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
  // Results of parts are appended to `ended`. `port` is the index of the device's port, which
  // selects the regions' keys. `ring` is made when it is first needed; the links to a node share
  // it, and one at a time uses it.
  VerbsOperationLink(Shared& shared, const VerbsContact& contact, const VerbsHello& hello,
                     std::uint32_t lane, const VerbsRegions& regions, std::size_t port,
                     std::unique_ptr<VerbsRing>& ring, std::vector<Channel::PartResult>& ended);

  void Post(std::uint64_t id, std::span<const Operation> operations, bool continues);

  // Whether all posted parts have ended.
  bool idle() const { return parts_.empty(); }

 private:
  struct Part {
    std::uint64_t id;
    std::span<const Operation> operations;
    bool continues;
    Outcome refusal = Outcome::kOk;  // of operation number `limit`, which is not tried
    std::size_t limit = 0;
    std::size_t posted = 0;    // operations
    std::uint64_t pieces = 0;  // bytes of the next operation that are already posted
    std::size_t done = 0;      // operations
  };
  // A request in flight: an operation, or a piece of a long one.
  struct Request {
    const std::byte* staged;  // where a read has put its bytes, to be copied on completion
    std::byte* local;
    std::uint32_t bytes;
    bool last;               // the last piece of its operation
    std::uint64_t released;  // the ring's position after it
  };

  Outcome Check(const Operation& operation) const;
  bool Add(Part& part);
  bool MakeRing();
  ibv_send_wr& Stage(const Operation& operation, std::uint64_t at, std::uint32_t bytes,
                     std::byte* staged);
  bool MustWait(OperationKind kind) const;
  void EndFinishedParts();
  void FailFrontPart(Outcome outcome, bool refused);
  void End(const Part& part, Outcome outcome, std::size_t failed_index);

  void OnDone(std::size_t count) override;
  void OnConnected(const VerbsReply& reply) override;
  void OnRoom() override;
  void OnError(Outcome outcome) override;
  void OnUnusable(Outcome outcome) override;

  const VerbsRegions& regions_;
  const std::size_t port_;
  std::vector<Channel::PartResult>& ended_;
  std::vector<bool> revoked_;  // by region
  std::unique_ptr<VerbsRing>& ring_;
  std::deque<Part> parts_;
  std::size_t next_ = 0;  // of parts_: the first that is not completely posted
  std::deque<Request> requests_;
  bool awaits_failure_reason_ =
      false;                  // the front part has failed; the reply to the reconnect will tell why
  bool doomed_ = false;       // a part that continues the last one must not be tried
  bool reads_ahead_ = false;  // whether requests_ has reads
  bool atomics_ahead_ = false;
};

}  // namespace slimgraph
