// Wraps all MPI calls that the fabric needs in plain types. One thread makes all the calls.
//
// One-sided MPI is not passive where it is emulated (MPICH over shared memory or TCP): a get
// completes only while its target is inside an MPI call. UCX 1.13 silently rounds the base of a
// window down to 16 bytes, so windows are aligned to 64 bytes and tested at the start.
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
  // A transfer in progress. Its memory must stay valid until Test() returns true.
  using Transfer = std::uintptr_t;
  using WindowId = std::size_t;
  enum Tag : int { kFrames = 1, kPayloads = 16 };  // payloads: plus the endpoint

  // Collective. Returns an error if MPI's ranks differ from the job's nodes.
  static Result<std::unique_ptr<MpiWorld>> Start(NodeId self, NodeId nodes);
  // Does not finalise MPI: over TCP, MPI_Finalize can wait forever. The job tells the launcher that
  // this process ends.
  ~MpiWorld();

  // Collective: tests that bytes put into another node's window arrive at the right offset.
  Status TestWindows();

  // Collective; `mine` must be aligned to kWindowAlignment.
  Result<WindowId> MakeWindow(MutableBytes mine);

  // Each transfer has at most kMaxTransferBytes.
  static constexpr std::size_t kMaxTransferBytes = std::size_t{1} << 30;
  Transfer Send(NodeId node, int tag, Bytes bytes);
  Transfer Receive(NodeId node, int tag, MutableBytes bytes);
  Transfer Get(WindowId window, NodeId node, std::uint64_t offset, MutableBytes bytes);
  bool Test(Transfer& transfer);

  // A frame that has been matched and is being received.
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
