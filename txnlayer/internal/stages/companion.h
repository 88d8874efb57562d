// State and work of a protocol on each thread, in addition to the tuples. Most protocols need none.
#pragma once

#include <chrono>

#include "slimgraph/fabric/message.h"

namespace slimgraph::txn {

class Companion {
 public:
  virtual ~Companion() = default;
  // Takes requests whose CallHeader names no stage.
  virtual void Serve(const Message& message) = 0;
  // Called in every turn of the thread's loop. Returns the longest time until it must be called
  // again; 0: call it when something comes in.
  virtual std::chrono::nanoseconds Work() = 0;
  // The thread will sleep after one more turn. Other nodes that write into its memory must be told
  // to wake it.
  virtual void BeforeSleep() {}
  // No transaction is under way anywhere, and this thread rests: forget all tuples.
  virtual void ForgetTuples() {}
  // A node has died: nothing new may begin, and everything that waits must be told.
  virtual void OnDeath() = 0;
  // Between rounds, when nothing of any thread is under way: resets all state, for the given round.
  virtual void Reset(std::uint32_t round) = 0;
};

}  // namespace slimgraph::txn
