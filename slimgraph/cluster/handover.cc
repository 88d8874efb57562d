#include "slimgraph/cluster/handover.h"

#include <cstring>
#include <string>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"

namespace slimgraph {
namespace {

bool IsNone(const Handover::Name& name) { return name == Handover::Name{}; }

}  // namespace

Result<Handover::Name> Handover::Decide(NodeId compute, std::uint64_t bytes) {
  const NodeId wanted = compute_at_ ? compute_at_(step) : compute;
  if (wanted == compute) return Name{};
  SLIM_ASSIGN(memory_, SharedMemory::Create(bytes));
  next_compute_ = wanted;
  return Waiting();
}

Handover::Name Handover::Waiting() const {
  Name name{};
  if (!compute_at_ || !memory_) return name;
  const std::string handle = memory_->handle();
  SLIM_CHECK(handle.size() < sizeof name, "{}", handle);
  std::memcpy(name.data(), handle.data(), handle.size());
  return name;
}

Status Handover::Open(const Name& name) {
  SLIM_CHECK(!IsNone(name));
  if (memory_) return {};
  std::array<char, sizeof name + 1> text{};
  std::memcpy(text.data(), name.data(), sizeof name);
  SLIM_ASSIGN(memory_, SharedMemory::Open(text.data()));
  return {};
}

void Handover::NoteStep() {
  // Nodes that follow begin with the step at which the program was left.
  if (step > 0 && step == noted_step_) return;
  if (step > 0) {
    NoteEnd();
  } else {
    step_seconds_.clear();
  }
  noted_step_ = step;
  noted_ns_ = NowNs();
}

void Handover::NoteEnd() { step_seconds_.push_back(SecondsSince(noted_ns_)); }

}  // namespace slimgraph
