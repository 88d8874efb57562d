#include "slimgraph/fabric/internal/mpi/world.h"

#include <mpi.h>

#include <array>
#include <cstring>
#include <string>

#include "slimgraph/base/check.h"

namespace slimgraph {

static_assert(sizeof(MPI_Request) <= sizeof(MpiWorld::Transfer));

struct MpiWorld::Handles {
  int rank = 0;
  int size = 1;
  MPI_Comm communicator = MPI_COMM_NULL;
  std::vector<MPI_Win> windows;
  std::shared_ptr<void> test_area;  // must live as long as its window
};

namespace {

MpiWorld::Transfer ToTransfer(MPI_Request request) {
  MpiWorld::Transfer transfer = 0;
  std::memcpy(&transfer, &request, sizeof request);
  return transfer;
}

// MPICH writes its whole error stack, far beyond MPI_MAX_ERROR_STRING.
std::string MessageOf(int code) {
  std::string message(std::size_t{64} << 10, '\0');
  int length = 0;
  MPI_Error_string(code, message.data(), &length);
  message.resize(message.find('\0'));
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  return message;
}

int Count(std::size_t bytes) {
  SLIM_CHECK(bytes <= MpiWorld::kMaxTransferBytes);
  return static_cast<int>(bytes);
}

}  // namespace

MpiWorld::MpiWorld() : handles_(std::make_unique<Handles>()) {}
MpiWorld::~MpiWorld() = default;

bool MpiWorld::Check(int code, const char* call) {
  if (code == MPI_SUCCESS) return true;
  if (!error_) {
    error_ = EnvironmentError("node {}: {}: {}", handles_->rank, call, MessageOf(code)).value();
  }
  return false;
}

Result<std::unique_ptr<MpiWorld>> MpiWorld::Start(NodeId self, NodeId nodes) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  int provided = 0;
  if (!initialized &&
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    return EnvironmentError("node {}: MPI_Init_thread failed", self);
  }
  std::unique_ptr<MpiWorld> world(new MpiWorld());
  Handles& handles = *world->handles_;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  world->Check(MPI_Comm_rank(MPI_COMM_WORLD, &handles.rank), "MPI_Comm_rank");
  world->Check(MPI_Comm_size(MPI_COMM_WORLD, &handles.size), "MPI_Comm_size");
  if (static_cast<NodeId>(handles.rank) != self || static_cast<NodeId>(handles.size) != nodes) {
    return EnvironmentError(
        "this is node {} of {}, but MPI takes it for rank {} of {}: start the job with the mpiexec "
        "of the MPI library that slimgraph was built with (MPICH: mpiexec.hydra)",
        self, nodes, handles.rank, handles.size);
  }
  world->Check(MPI_Comm_dup(MPI_COMM_WORLD, &handles.communicator), "MPI_Comm_dup");
  if (world->error_) return tl::unexpected(*world->error_);
  MPI_Comm_set_errhandler(handles.communicator, MPI_ERRORS_RETURN);
  return world;
}

Result<MpiWorld::WindowId> MpiWorld::MakeWindow(MutableBytes mine) {
  SLIM_CHECK(reinterpret_cast<std::uintptr_t>(mine.data()) % kWindowAlignment == 0);
  MPI_Win window = MPI_WIN_NULL;
  if (!Check(MPI_Win_create(mine.data(), static_cast<MPI_Aint>(mine.size()), 1, MPI_INFO_NULL,
                            handles_->communicator, &window),
             "MPI_Win_create")) {
    return tl::unexpected(*error_);
  }
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  if (!Check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all")) {
    return tl::unexpected(*error_);
  }
  handles_->windows.push_back(window);
  return handles_->windows.size() - 1;
}

Status MpiWorld::TestWindows() {
  constexpr std::size_t kOffset = 13;
  using Pattern = std::array<char, 23>;
  struct alignas(kWindowAlignment) Area {
    std::array<char, 256> bytes{};
  };
  const auto area = std::make_shared<Area>();
  handles_->test_area = area;
  const auto pattern_of = [](int rank) {
    Pattern pattern;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      pattern[i] = static_cast<char>(1 + (static_cast<std::size_t>(rank) * 31 + i) % 97);
    }
    return pattern;
  };
  SLIM_ASSIGN(const WindowId id, MakeWindow(std::as_writable_bytes(std::span(area->bytes))));
  const MPI_Win window = handles_->windows[id];
  const int right = (handles_->rank + 1) % handles_->size;
  const int left = (handles_->rank + handles_->size - 1) % handles_->size;
  const Pattern put = pattern_of(handles_->rank);
  Pattern got{};
  const int count = Count(put.size());
  Check(MPI_Barrier(handles_->communicator), "MPI_Barrier");
  Check(MPI_Put(put.data(), count, MPI_BYTE, right, kOffset, count, MPI_BYTE, window), "MPI_Put");
  Check(MPI_Win_flush(right, window), "MPI_Win_flush");
  Check(MPI_Barrier(handles_->communicator), "MPI_Barrier");
  Check(MPI_Get(got.data(), count, MPI_BYTE, right, kOffset, count, MPI_BYTE, window), "MPI_Get");
  Check(MPI_Win_flush(right, window), "MPI_Win_flush");
  Check(MPI_Win_sync(window), "MPI_Win_sync");
  Check(MPI_Barrier(handles_->communicator), "MPI_Barrier");
  std::array<char, 256> wanted{};
  const Pattern from_left = pattern_of(left);
  std::memcpy(wanted.data() + kOffset, from_left.data(), from_left.size());
  if (error_) return tl::unexpected(*error_);
  if (got != put || area->bytes != wanted) {
    return EnvironmentError(
        "node {}: MPI windows do not work here: bytes put at offset {} of a window aligned to {} "
        "come out elsewhere; use --transport tcp",
        handles_->rank, kOffset, kWindowAlignment);
  }
  return {};
}

MpiWorld::Transfer MpiWorld::Send(NodeId node, int tag, Bytes bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  Check(MPI_Isend(bytes.data(), Count(bytes.size()), MPI_BYTE, static_cast<int>(node), tag,
                  handles_->communicator, &request),
        "MPI_Isend");
  return ToTransfer(request);
}

MpiWorld::Transfer MpiWorld::Receive(NodeId node, int tag, MutableBytes bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  Check(MPI_Irecv(bytes.data(), Count(bytes.size()), MPI_BYTE, static_cast<int>(node), tag,
                  handles_->communicator, &request),
        "MPI_Irecv");
  return ToTransfer(request);
}

MpiWorld::Transfer MpiWorld::Get(WindowId window, NodeId node, std::uint64_t offset,
                                 MutableBytes bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = Count(bytes.size());
  Check(
      MPI_Rget(bytes.data(), count, MPI_BYTE, static_cast<int>(node), static_cast<MPI_Aint>(offset),
               count, MPI_BYTE, handles_->windows[window], &request),
      "MPI_Rget");
  return ToTransfer(request);
}

bool MpiWorld::Test(Transfer& transfer) {
  MPI_Request request;
  std::memcpy(&request, &transfer, sizeof request);
  int done = 0;
  Check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  transfer = ToTransfer(request);
  return done != 0;
}

std::optional<MpiWorld::Arrival> MpiWorld::ReceiveFrame() {
  int found = 0;
  MPI_Message message;
  MPI_Status status;
  Check(MPI_Improbe(MPI_ANY_SOURCE, kFrames, handles_->communicator, &found, &message, &status),
        "MPI_Improbe");
  if (found == 0) return std::nullopt;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  Arrival arrival{
      .from = static_cast<NodeId>(status.MPI_SOURCE),
      .bytes = static_cast<std::size_t>(count),
      .transfer = 0,
      .memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(count))};
  MPI_Request request = MPI_REQUEST_NULL;
  Check(MPI_Imrecv(arrival.memory.get(), count, MPI_BYTE, &message, &request), "MPI_Imrecv");
  arrival.transfer = ToTransfer(request);
  return arrival;
}

}  // namespace slimgraph
