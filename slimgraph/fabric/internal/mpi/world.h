// All that the fabric asks of the MPI library, behind plain types. One thread makes all the calls.
//
// One-sided MPI is not passive where it is emulated (MPICH over shared memory or TCP): a get ends
// only while its target is inside an MPI call. And UCX 1.13 silently rounds the base of a window
// down to 16 bytes: windows are aligned to 64 and tested at the start.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/types.h"

namespace slimgraph {

constexpr std::size_t kWindowAlignment = 64;

class MpiWorld {
 public:
  // A transfer under way. Its memory stays valid until Test() says that it is done.
  using Transfer = std::uintptr_t;
  using WindowId = std::size_t;
  enum Tag : int { kFrames = 1, kPayloads = 16 };  // payloads: plus the endpoint

  // Collective. Fails where MPI would see other nodes than the job.
  static Result<std::unique_ptr<MpiWorld>> Start(NodeId self, NodeId nodes);
  // MPI is left as it is: over TCP, MPI_Finalize can wait forever. The launcher is told by the job.
  ~MpiWorld();

  // Collective: whether bytes put into another node's window come out where they belong.
  Status TestWindows();

  // Collective; `mine` is aligned to kWindowAlignment.
  Result<WindowId> MakeWindow(MutableBytes mine);

  // At most kMaxTransferBytes each.
  static constexpr std::size_t kMaxTransferBytes = std::size_t{1} << 30;
  Transfer Send(NodeId node, int tag, Bytes bytes);
  Transfer Receive(NodeId node, int tag, MutableBytes bytes);
  Transfer Get(WindowId window, NodeId node, std::uint64_t offset, MutableBytes bytes);
  bool Test(Transfer& transfer);

  // A frame that has come and is being received.
  struct Arrival {
    NodeId from;
    std::size_t bytes;
    Transfer transfer;
    std::unique_ptr<std::byte[]> memory;
  };
  std::optional<Arrival> ReceiveFrame();

  // The first call that failed, as one line.
  const std::optional<Error>& error() const { return error_; }

 private:
  struct Handles;
  MpiWorld();
  bool Check(int code, const char* call);

  std::unique_ptr<Handles> handles_;
  std::optional<Error> error_;
};

}  // namespace slimgraph
