// Two-sided stages on the wire: a request holds accesses as their coordinator knows them, a reply
// what has become of them. The home takes all steps of the stage on its own memory.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <vector>

#include "txnlayer/engine.h"

namespace slimgraph::txn {

// What a request asks for, beside the stages: to say where a tuple lies, after making it if need
// be; and nothing, to know that all requests before it have been handled.
constexpr std::uint16_t kPlaceRequest = kNumStages;
constexpr std::uint16_t kNothingRequest = kNumStages + 1;

// Which stages bring records to the coordinator, and which take them away.
bool CarriesRecord(std::uint16_t what, const Access& access);

// How many bytes an access takes in a request, and at most in a reply.
std::size_t ItemBytes(std::uint16_t what, const Access& access);

void AppendRequest(std::uint16_t what, const Access& access, std::vector<std::byte>& request);
// Takes in the next item of a reply; what it came to.
Step TakeReply(Bytes& reply, Access& access);

// Carries out the requests that reach one thread.
class RpcServer {
 public:
  RpcServer(Engine& engine, Worker& worker);

  void Serve(const Message& message);
  // Tries again what waits for a lock, the oldest first; whether anything still waits.
  // `refuse`: nobody waits any longer, as a node has died.
  bool TryWaiting(bool refuse);

 private:
  struct Answer {
    EndpointAddress to;
    std::uint32_t call = 0;
    std::size_t left = 0;                       // items that still wait
    std::vector<std::vector<std::byte>> items;  // as they will be in the reply
  };
  struct Waiting {
    Access access;
    std::vector<std::byte> image;  // behind a word
    std::uint16_t what;
    std::shared_ptr<Answer> answer;
    std::size_t item;
  };

  Step Carry(std::uint16_t what, Access& access);
  void Send(const Answer& answer);

  Engine& engine_;
  Worker& worker_;
  std::vector<std::byte> image_;               // behind a word
  std::multimap<Timestamp, Waiting> waiting_;  // the oldest first
};

}  // namespace slimgraph::txn
