// The messages of two-sided stages. A request holds accesses as the coordinator knows them, and a
// reply holds the results. The home takes all steps of the stage on its own memory.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "txnlayer/engine.h"

namespace slimgraph::txn {

// Requests beside the stages. kLocateRequest asks for a tuple's location and inserts the tuple if
// needed. kEmptyRequest does nothing: its reply shows that all earlier requests have been
// handled. kReadRequest reads ranges of regions (range_reads.h).
constexpr std::uint16_t kLocateRequest = kNumStages;
constexpr std::uint16_t kEmptyRequest = kNumStages + 1;
constexpr std::uint16_t kReadRequest = kNumStages + 2;

// Whether a request of that kind carries the record to the home.
bool CarriesRecord(std::uint16_t what, const Access& access);

// The size of an access in a request, or the largest size in a reply, whichever is larger.
std::size_t ItemBytes(std::uint16_t what, const Access& access);

// Under vector timestamps, a request to read at a time has all counts before its items.
void AppendSeen(std::span<const Timestamp> sees, std::vector<std::byte>& request);
void AppendRequest(std::uint16_t what, const Access& access, std::vector<std::byte>& request);
// Reads the next item of a reply into `access`, and returns its result.
Step TakeReply(Bytes& reply, Access& access);

// Serves the requests that reach one thread.
class RpcServer {
 public:
  RpcServer(Engine& engine, Worker& worker);

  void Serve(const Message& message);
  // Retries the requests that wait for a lock, the oldest first. Returns whether any still waits.
  // `refuse`: a node has died, so all waiting requests are aborted.
  bool TryWaiting(bool refuse);

 private:
  struct Answer {
    EndpointAddress to;
    std::uint32_t call = 0;
    std::size_t left = 0;  // items that still wait for a lock
    std::vector<Timestamp> sees;
    std::vector<std::vector<std::byte>> items;  // as they will be in the reply
  };
  struct Waiting {
    Access access;
    std::vector<std::byte> image;  // the access's image, after its room
    std::uint16_t what;
    std::shared_ptr<Answer> answer;
    std::size_t item;
  };

  Step Carry(std::uint16_t what, Access& access);
  void Send(const Answer& answer);

  Engine& engine_;
  Worker& worker_;
  std::vector<std::byte> image_;               // the access's image, after its room
  std::vector<std::byte> kept_;                // Access::kept
  std::multimap<Timestamp, Waiting> waiting_;  // the oldest first
};

}  // namespace slimgraph::txn
