// Strangers: connections by processes outside the job, to test every listening socket.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// Connects to a port of this machine; returns an empty descriptor if nobody listens there.
UniqueFd ConnectStranger(std::uint16_t port);

// Waits until the other side closes the connection; returns false if it has not within `limit`.
bool AwaitHangUp(int fd, std::chrono::milliseconds limit = std::chrono::seconds(20));

// Messages that strangers send to a TCP port: nothing, random bytes, frames with impossible
// lengths, a too short first frame of a job, and a frame with a wrong proof. `seed` determines the
// random bytes.
std::vector<std::string> StrangerMessages(std::uint64_t seed);

// The TCP sockets on which a process listens, except inherited ones: nodes inherit hydra's port,
// and hydra ends the job on any stray byte.
struct ListeningSocket {
  std::string address;  // such as "127.0.0.1"
  std::uint16_t port = 0;
};
std::vector<ListeningSocket> ListeningSockets(pid_t process);

// A thread that attacks every port on which the processes given by `find` listen, until it is
// destroyed. It sends each message of StrangerMessages, whole or byte by byte, and keeps
// connections open.
class StrangerAttack {
 public:
  explicit StrangerAttack(std::function<std::vector<pid_t>()> find);
  ~StrangerAttack();
  StrangerAttack(const StrangerAttack&) = delete;
  StrangerAttack& operator=(const StrangerAttack&) = delete;

  // The number of ports found, and of connections made.
  std::size_t ports() const { return ports_; }
  std::size_t connections() const { return connections_; }

 private:
  void Run();

  const std::function<std::vector<pid_t>()> find_;
  std::atomic<std::size_t> ports_ = 0;
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace slimgraph
