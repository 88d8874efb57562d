// A node's passive side: a thread that makes a queue pair for each request from another node's
// queue pair. It sleeps at all other times; operations through these queue pairs need no thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <tuple>

#include "slimgraph/base/poller.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/verbs/setup.h"

namespace slimgraph {

class VerbsService {
 public:
  // The device and the shape of a queue pair.
  struct PairParameters {
    const VerbsDevice* device;
    VerbsQueuePair::Shape shape;
  };
  using ChooseParameters = std::function<PairParameters(const VerbsHello&)>;

  VerbsService(DatagramSocket socket, Poller poller, const VerbsToken& token,
               ChooseParameters choose_parameters);
  ~VerbsService();

  // Called from any thread: later replies report `region` as revoked.
  void NoteRevoked(RegionId region) { revoked_[region / 64] |= std::uint64_t{1} << region % 64; }

 private:
  // The requesting node, its endpoint, and the number of the queue pair.
  using RequesterId = std::tuple<NodeId, std::uint16_t, std::uint32_t>;
  struct Served {
    VerbsAddress requester;
    VerbsQueuePair pair;
    VerbsReply reply;
  };

  void Run();
  void Answer(const VerbsRequest& request, const SocketAddress& from);
  Result<VerbsQueuePair> MakePair(const VerbsRequest& request) const;

  DatagramSocket socket_;
  Poller poller_;
  const VerbsToken token_;
  const ChooseParameters choose_parameters_;
  std::map<RequesterId, Served> served_;
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<VerbsRevoked>> revoked_{};
  std::atomic<bool> ending_ = false;
  Thread thread_;
};

}  // namespace slimgraph
