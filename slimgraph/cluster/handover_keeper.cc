#include "slimgraph/cluster/handover_keeper.h"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace slimgraph {

Result<std::unique_ptr<HandoverKeeper>> HandoverKeeper::Make() {
  auto keeper = std::make_unique<HandoverKeeper>();
  SLIM_ASSIGN(keeper->notes_, SharedMemory::Create(sizeof(Notes)));
  SLIM_TRY(keeper->Renew());
  return keeper;
}

Status HandoverKeeper::Renew() {
  const auto last = Last();
  for (std::size_t memory = 0; memory < memories_.size(); ++memory) {
    if (last && last->memory == memory) continue;
    SLIM_ASSIGN(memories_[memory], SharedMemory::NewDescriptor());
  }
  return {};
}

HandoverKeeper::Notes& HandoverKeeper::notes() const {
  return *reinterpret_cast<Notes*>(notes_->base());
}

Result<std::unique_ptr<SharedMemory>> HandoverKeeper::Open(std::size_t memory,
                                                           std::uint64_t bytes) const {
  UniqueFd fd(::fcntl(memories_[memory].get(), F_DUPFD_CLOEXEC, 0));
  if (!fd) return EnvironmentError("cannot use shared memory: {}", std::strerror(errno));
  return SharedMemory::OfDescriptor(std::move(fd), bytes);
}

void HandoverKeeper::Note(const State& state) {
  notes().states[state.memory] = state;
  std::atomic_ref(notes().last).store(state.memory + 1, std::memory_order_release);
}

void HandoverKeeper::NoteResultBegins() { std::atomic_ref(notes().has_begun_result).store(1); }

void HandoverKeeper::NoteResult(int exit_code) {
  std::atomic_ref(notes().exit_code).store(static_cast<std::uint64_t>(exit_code) + 1);
}

std::optional<HandoverKeeper::State> HandoverKeeper::Last() const {
  const std::uint64_t last = std::atomic_ref(notes().last).load(std::memory_order_acquire);
  if (last == 0) return std::nullopt;
  return notes().states[last - 1];
}

bool HandoverKeeper::has_begun_result() const {
  return std::atomic_ref(notes().has_begun_result).load() == 1;
}

std::optional<int> HandoverKeeper::exit_code() const {
  const std::uint64_t noted = std::atomic_ref(notes().exit_code).load();
  if (noted == 0) return std::nullopt;
  return static_cast<int>(noted - 1);
}

}  // namespace slimgraph
