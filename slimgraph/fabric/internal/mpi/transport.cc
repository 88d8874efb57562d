#include "slimgraph/fabric/internal/make_transport.h"

#include <sys/mman.h>

#include <cstdlib>

#include "slimgraph/fabric/internal/mpi/channel.h"
#include "slimgraph/fabric/internal/mpi/service.h"
#include "slimgraph/fabric/internal/pages.h"
#include "slimgraph/launch/job.h"
#include "slimgraph/launch/started_by.h"

namespace slimgraph {

namespace {

// UCX would use shared memory also between network namespaces, which stand for hosts in tests. Its
// reads of another process's memory (cma) abort the reader when that process dies.
void ChooseUcxTransports(bool one_host) {
  ::setenv("UCX_TLS", one_host ? "posix,sysv,self" : "tcp,self", 0);
  if (!one_host) {
    ::setenv("UCX_TCP_TX_SEG_SIZE", "64k", 0);
    ::setenv("UCX_TCP_RX_SEG_SIZE", "256k", 0);
  }
}

class MpiTransport : public Transport {
 public:
  MpiTransport(std::unique_ptr<MpiService> service, std::uint32_t endpoints)
      : service_(std::move(service)), endpoints_(endpoints) {}
  ~MpiTransport() override { Stop(); }

  std::string_view name() const override { return "mpi"; }

  Result<RegionMemory> Allocate(std::uint64_t bytes) override { return AllocatePages(bytes); }
  void Free(const RegionMemory& memory) override {
    if (!left_behind_) FreePages(memory);
  }
  void Clear(const RegionMemory& memory) override { DiscardPages(memory, MADV_DONTNEED); }

  Status Publish(RegionId id, const RegionMemory& mine,
                 std::span<const std::uint64_t> /*bytes_of_node*/) override {
    // Creating a window blocks the service thread until all nodes do the same, so all nodes wait
    // for each other here first.
    SLIM_TRY(service_->job().Exchange(""));
    return service_->Publish(id, mine);
  }

  Status Revoke(RegionId id) override {
    service_->Revoke(id);
    return {};
  }

  std::unique_ptr<Channel> OpenChannel(std::uint32_t endpoint, Faults& /*faults*/) override {
    return std::make_unique<MpiChannel>(*service_, endpoint, endpoints_);
  }

  Status Close() override {
    const auto everyone = service_->job().Exchange("");
    Stop();
    SLIM_TRY(everyone);
    return {};
  }

  // If the thread is stuck in an MPI call, it is left behind with everything that it uses. The
  // regions are not freed either, because MPI may still access them.
  void Stop() override {
    if (service_ && service_->stuck()) {
      service_->EndWhenMpiReturns();
      left_behind_ = service_.release();
    }
    service_.reset();
  }

 private:
  std::unique_ptr<MpiService> service_;
  MpiService* left_behind_ = nullptr;
  const std::uint32_t endpoints_;
};

}  // namespace

Result<std::unique_ptr<Transport>> MakeMpiTransport(Job& job, const FabricOptions& options) {
  if (job.nodes() > 1 && StartedBy() != Starter::kPmi) {
    return UsageError("--transport mpi needs a job that was started by mpiexec");
  }
  // The job has already used srun's PMI, which can be opened only once. MPI would wait for it
  // forever.
  if (std::getenv("SLURM_MPI_TYPE") != nullptr && std::getenv("HYDI_CONTROL_FD") == nullptr) {
    return UsageError(
        "--transport mpi does not start under srun; use mpiexec.hydra, or --transport tcp");
  }
  ChooseUcxTransports(job.one_host());
  SLIM_ASSIGN(WakeSocket wake, WakeSocket::Open(job));
  auto service = std::make_unique<MpiService>(job, std::move(wake), options.endpoints);
  const Status started = service->Start();
  auto transport = std::make_unique<MpiTransport>(std::move(service), options.endpoints);
  SLIM_TRY(started);
  job.LeavePmi();
  return transport;
}

}  // namespace slimgraph
