// The datagrams of an endpoint's mailbox in a simulation. They are lost, duplicated and delayed, so
// that they overtake each other. A link that is cut loses them, and so does an endpoint that does
// not fetch what has arrived. The memory of a datagram is read some time after it was sent.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "slimgraph/fabric/internal/datagrams/mailbox.h"
#include "slimgraph/fabric/internal/sim/target.h"

namespace slimgraph {

// What a network of a simulation does to datagrams.
struct SimDatagramRules {
  static SimDatagramRules Draw();

  std::uint32_t most_bytes = 4096;  // of a datagram
  std::uint32_t lost = 0;           // of 1,000
  std::uint32_t duplicated = 0;     // of 1,000
  std::uint32_t late = 0;           // of 1,000: longer than a sender waits for an acknowledgement
  std::uint32_t queue = 256;        // how many an endpoint has given to its device
  std::uint32_t buffers = 512;      // how many an endpoint has for those that arrive
};

class SimMailPort final : public MailPort {
 public:
  SimMailPort(std::shared_ptr<SimTarget> own, EndpointAddress self);
  ~SimMailPort() override;

  // Must be called first.
  void Start(const SimDatagramRules& rules, std::vector<std::shared_ptr<SimTarget>> targets);
  // The mailbox has lost the node, so it sends nothing to it any more.
  void CheckNothingIsSentTo(NodeId node) { lost_[node] = true; }

  std::uint32_t MostBytes(EndpointAddress /*to*/) const override { return rules_.most_bytes; }
  Result<std::unique_ptr<SendRing>> MakeRing(std::uint64_t bytes) override;
  std::uint64_t Send(EndpointAddress to, Bytes bytes, const SendRing* ring) override;
  std::uint64_t sent() override { return device_->sent; }

  bool all_sent() { return device_->sent == posted_; }
  void Receive(const std::function<void(Bytes, EndpointAddress)>& take);
  bool IsFrom(EndpointAddress source, EndpointAddress endpoint) const { return source == endpoint; }
  bool Arm();

 private:
  struct Datagram {
    std::shared_ptr<SimTarget> target;
    EndpointAddress to;
    Bytes bytes;
    std::vector<std::byte> copy;  // of the bytes, once they were read
  };
  // What sends datagrams, whatever their endpoint does meanwhile.
  struct Device {
    SimDatagramRules rules;
    std::shared_ptr<SimTarget> own;
    EndpointAddress self;
    std::deque<Datagram> queue;
    std::uint64_t sent = 0;
    std::uint64_t last_ns = 0;  // when it sends the last of the queue
    bool closed = false;        // the memory of the queue is gone
  };
  static void SendFirst(const std::shared_ptr<Device>& device);
  static void Deliver(const Device& device, const Datagram& datagram);

  SimInbox& inbox_;
  SimDatagramRules rules_;
  const std::shared_ptr<Device> device_;
  std::vector<std::shared_ptr<SimTarget>> targets_;  // by node
  std::vector<bool> lost_;                           // the same
  std::uint64_t posted_ = 0;
};

using SimMailbox = Mailbox<SimMailPort>;

}  // namespace slimgraph
