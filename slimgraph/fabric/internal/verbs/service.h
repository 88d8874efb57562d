// A node's passive side: a thread that makes a queue pair for each one of another node that asks.
// It sleeps at all other times; what comes over these queue pairs needs no thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <thread>
#include <tuple>

#include "slimgraph/fabric/internal/poller.h"
#include "slimgraph/fabric/internal/verbs/setup.h"

namespace slimgraph {

class VerbsService {
 public:
  // What a queue pair is made of.
  struct Side {
    const VerbsDevice* device;
    VerbsQueuePair::Shape shape;
  };
  using Choose = std::function<Side(const TcpHello&)>;

  VerbsService(DatagramSocket socket, Poller poller, const TcpToken& token, Choose choose);
  ~VerbsService();

  // From any thread: later answers tell that `region` was taken back.
  void NoteRevoked(RegionId region) { revoked_[region / 64] |= std::uint64_t{1} << region % 64; }

 private:
  // The asking node, its endpoint and the lane.
  using Asker = std::tuple<NodeId, std::uint16_t, std::uint32_t>;
  struct Served {
    VerbsAddress asker;
    VerbsQueuePair pair;
    VerbsReply reply;
  };

  void Run();
  void Answer(const VerbsRequest& request, const DatagramSocket::Address& from);
  Result<VerbsQueuePair> MakePair(const VerbsRequest& request) const;

  DatagramSocket socket_;
  Poller poller_;
  const TcpToken token_;
  const Choose choose_;
  std::map<Asker, Served> served_;
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<VerbsRevoked>> revoked_{};
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace slimgraph
