#include "slimgraph/fabric/handlers.h"

#include <chrono>

#include "slimgraph/base/check.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/persistent_writes.h"

namespace slimgraph {

namespace {
constexpr std::chrono::microseconds kUntilHandlersEnd{20};
const MessageHandler kDrop = [](Endpoint&, const Message&) {};
}  // namespace

HandlerRegistration& HandlerRegistration::operator=(HandlerRegistration&& other) noexcept {
  Stop();
  table_ = other.table_;
  id_ = other.id_;
  handler_ = std::move(other.handler_);
  return *this;
}

void HandlerRegistration::Stop() {
  if (!handler_) return;
  table_->Remove(id_, handler_.get());
  handler_.reset();
}

HandlerRegistration HandlerTable::Set(HandlerId id, MessageHandler handler) {
  SLIM_CHECK(!PersistentWrites::Handles(id), "{:x} is a message of endpoints", id);
  auto kept = std::make_unique<MessageHandler>(std::move(handler));
  const std::lock_guard lock(mutex_);
  std::size_t tried = 0;
  while (true) {
    SLIM_CHECK(tried < kSlots, "more than {} kinds of messages", kSlots);
    Slot& slot = slots_[(id + tried++) % kSlots];
    const std::uint32_t known = slot.id.load();
    if (known != kFree && known != id) continue;
    slot.handler.store(kept.get());
    slot.id.store(id, std::memory_order_release);
    return {*this, id, std::move(kept)};
  }
}

const MessageHandler* HandlerTable::Find(HandlerId id) const {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot& slot = slots_[(id + i) % kSlots];
    const std::uint32_t known = slot.id.load(std::memory_order_acquire);
    if (known == id) return slot.handler.load();
    if (known == kFree) return nullptr;
  }
  return nullptr;
}

// No handler is missed: here the slot is changed before `turns` is read, and an endpoint's thread
// calls BeginUse() before it reads the slot. All four accesses are sequentially consistent. So
// either the thread sees the changed slot, or its use is seen here.
void HandlerTable::Remove(HandlerId id, const MessageHandler* handler) {
  for (Slot& slot : slots_) {
    if (slot.id.load() != id) continue;
    const MessageHandler* expected = handler;  // unless another handler has replaced it
    slot.handler.compare_exchange_strong(expected, &kDrop);
  }
  for (const Use& use : uses_) {
    const std::uint64_t turns = use.turns.load();
    while (turns % 2 == 1 && use.turns.load() == turns) {
      SleepFor(kUntilHandlersEnd);
    }
  }
}

}  // namespace slimgraph
