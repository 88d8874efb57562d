// What a protocol keeps on each thread beside the tuples, and does between messages. Most need
// none.
#pragma once

#include <chrono>

#include "slimgraph/fabric/message.h"

namespace slimgraph::txn {

class Companion {
 public:
  virtual ~Companion() = default;
  // Takes requests whose CallHeader names none of the stages.
  virtual void Serve(const Message& message) = 0;
  // Called in every turn of the thread's loop; how soon it wants the next at the latest, 0: when
  // something comes.
  virtual std::chrono::nanoseconds Work() = 0;
  // The thread is about to sleep, after one more turn: whoever writes into its memory may be told.
  virtual void Sleeps() {}
  // No transaction is under way anywhere, nor this thread: it lets go of all tuples.
  virtual void LetGo() {}
  // A node has died: nothing that is not under way begins any more, and whoever waits is told.
  virtual void Lose() = 0;
  // Between rounds, when nothing of any thread is under way: all begins anew, in that round.
  virtual void BeginAnew(std::uint32_t round) = 0;
};

}  // namespace slimgraph::txn
