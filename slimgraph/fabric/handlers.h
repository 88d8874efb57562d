// The functions that receive messages, by id. An endpoint's thread looks them up without a lock. A
// function is destroyed only when no thread runs it any more.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "slimgraph/base/sync.h"
#include "slimgraph/base/types.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

class Endpoint;
class HandlerTable;

using MessageHandler = std::function<void(Endpoint&, const Message&)>;

// A handler receives messages while its registration lives. Once the registration is destroyed, the
// handler is not running and will not run; later messages for it are dropped. A handler must not
// destroy a registration.
class [[nodiscard]] HandlerRegistration {
 public:
  HandlerRegistration() = default;
  HandlerRegistration(HandlerRegistration&&) noexcept = default;
  HandlerRegistration& operator=(HandlerRegistration&& other) noexcept;
  ~HandlerRegistration() { Stop(); }

 private:
  friend class HandlerTable;
  HandlerRegistration(HandlerTable& table, HandlerId id, std::unique_ptr<MessageHandler> handler)
      : table_(&table), id_(id), handler_(std::move(handler)) {}
  void Stop();

  HandlerTable* table_ = nullptr;
  HandlerId id_ = 0;
  std::unique_ptr<MessageHandler> handler_;  // null: nothing is registered
};

class HandlerTable {
 public:
  explicit HandlerTable(std::uint32_t endpoints) : uses_(endpoints) {}

  // Replaces an earlier handler of that id. May be called from any thread.
  HandlerRegistration Set(HandlerId id, MessageHandler handler);

  // Between these two calls, the thread of an endpoint may run the function that Find() returns.
  void BeginUse(std::uint32_t endpoint) { uses_[endpoint].turns.fetch_add(1); }
  void EndUse(std::uint32_t endpoint) {
    uses_[endpoint].turns.fetch_add(1, std::memory_order_release);
  }

  // Null for an id that was never set; a function that does nothing for an id whose handler was
  // removed.
  const MessageHandler* Find(HandlerId id) const;

 private:
  friend class HandlerRegistration;
  static constexpr std::size_t kSlots = 64;  // far more than a process uses
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  // An id keeps its slot forever.
  struct Slot {
    std::atomic<std::uint32_t> id{kFree};
    std::atomic<const MessageHandler*> handler{nullptr};
  };
  // `turns` is odd while handlers may run.
  struct Use {
    alignas(kCacheLineBytes) std::atomic<std::uint64_t> turns{0};
  };

  void Remove(HandlerId id, const MessageHandler* handler);

  Mutex mutex_;  // locked to claim a slot
  std::array<Slot, kSlots> slots_;
  std::vector<Use> uses_;  // by endpoint
};

}  // namespace slimgraph
