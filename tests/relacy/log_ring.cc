// The log of a coordinating thread at a backup (replication/log_ring.h): a reader that finds a
// record's first stamp finds the whole record, and finds nothing else, while the writer writes
// one-sided. In the product, the position up to which a backup has read is told by a message. Here
// an atomic stands for the message.
#include "txnlayer/internal/replication/log_ring.h"

#include "slimgraph/fabric/internal/execute_operation.h"
#include "tests/relacy/checker.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kRingWords = 16;
// Three records are written and read first. The first record of the second round follows a skip.
// The third begins where the payload of the second record was.
constexpr std::uint64_t kWordsOfRecord[] = {4, 4, 4, 3, 3, 2, 4, 3};
constexpr int kWrites = 5;
constexpr int kReads = 4;

class Log {
 public:
  Log() : position_(shape_.first()) {
    for (int i = 0; i < 3; ++i) RL_ASSERT(Write() && Read());
  }

  bool Write() {
    const std::uint64_t words = kWordsOfRecord[records_];
    if (!shape_.HasRoom(written_, reclaimed_.load(std::memory_order_acquire), words)) return false;
    const LogShape::RecordSlot slot = shape_.SlotFor(written_, words);
    const std::uint64_t payload = PayloadAt(slot.position);
    const std::uint64_t record[] = {payload, payload};
    const auto write = [&](std::uint64_t offset, const std::uint64_t* from, std::size_t count) {
      CopyToRegion(memory_ + offset, reinterpret_cast<const std::byte*>(from), count * kWordBytes);
    };
    RecordFrame frame;
    frame.WriteSkip(shape_, slot, write);
    write(shape_.OffsetOf(slot.position + 1), record, words - 2);
    frame.WriteStamps(shape_, slot, write);
    written_ = slot.end();
    ++records_;
    return true;
  }
  bool Read() {
    std::vector<std::uint64_t> record;
    if (!LogRing(shape_, memory_).ReadNext(position_, record)) return false;
    const std::uint64_t words = kWordsOfRecord[read_++];
    RL_ASSERT(record.size() + 2 == words);
    for (const std::uint64_t word : record) RL_ASSERT(word == PayloadAt(position_ - words));
    reclaimed_.store(position_, std::memory_order_release);
    return true;
  }
  bool all_read() const { return read_ == records_; }

 private:
  // Payload of two such words could be taken for the stamps of an empty record in the next round.
  static std::uint64_t PayloadAt(std::uint64_t position) {
    return LogShape::StampOf(position + 1 + kRingWords, 2);
  }

  const LogShape shape_{kRingWords * kWordBytes};
  alignas(kWordBytes) std::byte memory_[(kRingWords + 8) * kWordBytes] = {};
  checked::AtomicWords<kRingWords + 8> words_{memory_};
  // The writer's
  std::uint64_t written_ = shape_.first();
  std::uint64_t records_ = 0;
  // The reader's
  std::uint64_t position_;
  std::uint64_t read_ = 0;
  Atomic<std::uint64_t> reclaimed_{shape_.first()};
};

// The writer's records pass the end of the ring and catch up with the reader.
struct WriterAndReader : rl::test_suite<WriterAndReader, 2> {
  Log log;

  void thread(int index) {
    for (int i = 0; i < (index == 0 ? kWrites : kReads); ++i) {
      if (index == 0 ? log.Write() : log.Read()) continue;
      rl::ctx().yield(1, RL_INFO);
    }
  }
  void after() {
    while (!log.all_read()) RL_ASSERT(log.Read());
    RL_ASSERT(!log.Read());
  }
};

}  // namespace
}  // namespace slimgraph::txn

int main(int arguments, char** argument) {
  slimgraph::Checker checker(arguments, argument);
  checker.Check<slimgraph::txn::WriterAndReader>("a writer and a reader", {2, 500'000});
  return checker.Finish();
}
