// The network of a simulation: TCP connections, events and sets of descriptors. What is sent
// arrives after a random time, in order. Links can be cut in each direction, and are healed again.
// Descriptors are numbers that the system never uses.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "slimgraph/base/sim/scheduler.h"
#include "slimgraph/base/types.h"

namespace slimgraph::sim {

class Descriptor;

// A descriptor to wait for, and what for.
struct Interest {
  int fd;
  bool reads;
  bool writes;
};

// What holds of a descriptor now.
struct Readiness {
  bool readable = false;
  bool writable = false;
  bool lost = false;  // the other end has closed the connection, or has not answered for long
};

class Network {
 public:
  // That of the simulation whose thread is running.
  static Network& Current();
  static bool Has(int fd) { return fd >= kFirstDescriptor && fd < kEndOfDescriptors; }

  explicit Network(Scheduler& scheduler);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // All of these may be called by threads of the simulation alone. Those that can fail return -1
  // and set errno, as the system's calls do.
  int MakeEvent();
  void SetEvent(int fd);
  void ClearEvent(int fd);

  int Listen();
  std::uint16_t PortOf(int fd) const;
  // The node that listens on a port, which is no other node's; this node if none does.
  NodeId NodeAtPort(std::uint16_t port) const;
  // The nodes at the two ends of a connection; for a listener, both are its own.
  std::pair<NodeId, NodeId> EndsOf(int fd) const;
  int StartConnecting(NodeId to, std::uint16_t port, bool blocking);
  int Accept(int listener, bool blocking);
  void SetBlocking(int fd, bool blocking);
  void LimitSending(int fd, std::uint64_t limit_ns);
  ssize_t Send(int fd, std::span<const iovec> parts);
  ssize_t Receive(int fd, std::span<const iovec> parts);
  // The other end reads the end of the connection after what has been sent.
  void EndSending(int fd, bool receiving_too);
  void Close(int fd);

  // A set of descriptors is readable when one of them is ready.
  int MakeSet();
  // Returns false if the descriptor is not open.
  bool PutIntoSet(int set, const Interest& interest, void* source);
  void TakeFromSet(int set, int fd);
  std::vector<std::pair<void*, Readiness>> ReadyOfSet(int set, std::size_t most);

  // Waits until one of the descriptors is ready or the deadline has come.
  std::vector<Readiness> Wait(std::span<const Interest> interests, std::uint64_t deadline_ns);

  // Faults. From a cut link nothing arrives; connections over it are lost after some seconds. What
  // was sent meanwhile arrives once it is healed.
  void Cut(NodeId from, NodeId to);
  void Heal(NodeId from, NodeId to);
  bool IsCut(NodeId from, NodeId to) const { return cut_.contains({from, to}); }
  // Closes all that a node has open, as the system does when a process ends.
  void CloseAllOf(NodeId node);

 private:
  static constexpr int kFirstDescriptor = 1 << 24;
  static constexpr int kEndOfDescriptors = 1 << 25;  // those of disks follow

  Descriptor* FindAny(int fd) const;
  template <typename Kind>
  Kind* Find(int fd) const;
  int Add(std::unique_ptr<Descriptor> made);
  Readiness Look(const Interest& interest, std::uint64_t now_ns, std::uint64_t& next_ns);
  void Changed(NodeId node);
  std::uint64_t Latency();

  Scheduler& scheduler_;
  std::vector<std::unique_ptr<Descriptor>> descriptors_;  // by number; null once closed
  std::map<std::uint16_t, int> listeners_;                // by port; each port belongs to one node
  std::map<NodeId, WaitQueue> waiting_;  // each node's threads that wait for descriptors
  std::set<std::pair<NodeId, NodeId>> cut_;
  std::uint16_t next_port_ = 10'000;
};

}  // namespace slimgraph::sim
