// The datagrams of one mailbox. A port is a final class derived from this one, which also has:
//
//   // Whether all datagrams have been sent or lost.
//   bool all_sent();
//   // Passes each datagram that has arrived to take(Bytes, source), with where it came from.
//   void Receive(const auto& take);
//   // Whether that is where this endpoint sends from.
//   bool IsFrom(source, EndpointAddress endpoint) const;
//   // Makes the next arrival an event. Returns true if something has arrived already.
//   bool Arm();
//
// They are not virtual, because a mailbox calls them whenever its endpoint polls.
#pragma once

#include "slimgraph/fabric/faults.h"
#include "slimgraph/fabric/internal/datagrams/datagram_port.h"

namespace slimgraph {

class MailPort : public DatagramPort {
 public:
  // The faults to inject when sending, from now on; null means none.
  void SetFaults(Faults* faults) { faults_ = faults != nullptr ? faults : &no_faults_; }

 protected:
  // Whether the port must drop the next datagram.
  bool DrawLoss() { return faults_->DrawLoss(); }

 private:
  Faults no_faults_;
  Faults* faults_ = &no_faults_;
};

}  // namespace slimgraph
