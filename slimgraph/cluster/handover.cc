#include "slimgraph/cluster/handover.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"

namespace slimgraph {

Status Handover::UseKeeper(HandoverKeeper& keeper) {
  keeper_ = &keeper;
  const auto kept = keeper.Last();
  if (!kept) return {};
  follows_a_dead_one_ = true;
  Named& waits = memories_[kept->memory];
  SLIM_ASSIGN(waits.memory, keeper.Open(kept->memory, kept->bytes));
  waits.Rename();
  waiting_ = kept->memory;
  waiting_step_ = kept->step;
  return {};
}

bool Handover::Asks(NodeId compute) {
  compute_ = compute;
  wanted_ = compute_at_ ? compute_at_(step) : compute;
  if (wanted_ == compute) wanted_ = 0;
  return wanted_ != 0;
}

Result<Handover::Name> Handover::Decide(NodeId compute, std::uint64_t bytes) {
  if (!Asks(compute) && !survives_) return Name{};
  return Prepare(bytes);
}

void Handover::Named::Rename() {
  const std::string handle = memory->handle();
  SLIM_CHECK(handle.size() < sizeof(Name) - sizeof(std::uint64_t), "{}", handle);
  name = {};
  std::memcpy(name.data(), handle.data(), handle.size());
}

Result<Handover::Name> Handover::Prepare(std::uint64_t bytes) {
  Named& written = memories_[waiting_ == 0 ? 1 : 0];
  if (!written.memory || written.memory->bytes() != bytes) {
    written = {};
    SLIM_ASSIGN(written.memory, keeper_ == nullptr ? SharedMemory::Create(bytes)
                                                   : keeper_->Open(waiting_ == 0 ? 1 : 0, bytes));
    written.Rename();
  }
  Name name = written.name;
  name.back() = wanted_ == 0 ? 0 : 1;
  return name;
}

void Handover::Complete() {
  waiting_ = waiting_ == 0 ? 1 : 0;
  waiting_step_ = step;
  next_compute_ = wanted_;
  if (keeper_ == nullptr) return;
  keeper_->Note({.memory = *waiting_,
                 .bytes = bytes(),
                 .step = waiting_step_,
                 .compute = wanted_ == 0 ? compute_ : wanted_});
}

Handover::Name Handover::Waiting() const { return waiting_ ? memories_[*waiting_].name : Name{}; }

Result<std::byte*> Handover::Open(const Name& name) {
  Name of_memory = name;
  of_memory.back() = 0;
  for (const Named& known : memories_) {
    if (known.memory && known.name == of_memory) return known.memory->base();
  }
  std::array<char, sizeof name + 1> text{};
  std::memcpy(text.data(), of_memory.data(), sizeof of_memory);
  Named& opened = memories_[memories_[0].memory ? 1 : 0];
  SLIM_ASSIGN(opened.memory, SharedMemory::Open(text.data()));
  opened.name = of_memory;
  return opened.memory->base();
}

void Handover::Close() {
  if (survives_) return;
  waiting_.reset();
  for (Named& one : memories_) one = {};
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

void Handover::NoteEnd() {
  if (!follows_a_dead_one_) step_seconds_.push_back(SecondsSince(noted_ns_));
}

}  // namespace slimgraph
