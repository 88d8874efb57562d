// The rings of ledgers: what a reader finds while frames are incomplete, or old.
#include "txnlayer/internal/durability/ledger_ring.h"

#include "tests/support/unwrap.h"
#include "tests/txnlayer/support.h"
#include "txnlayer/internal/durability/ledger.h"

namespace slimgraph::test {
namespace {

using txn::LedgerRing;
using txn::Record;

constexpr std::uint64_t kRun = 7;

// A ring in memory, and the thread that writes it.
struct Ring {
  explicit Ring(bool pads) : shape(LedgerRing::kLeastWords, kRun, pads), words(shape.words()) {}

  std::byte* bytes() { return reinterpret_cast<std::byte*>(words.data()); }
  void Put(std::uint64_t position, const std::vector<std::uint64_t>& all) {
    const std::uint64_t at = shape.OffsetOf(position) / txn::kWordBytes;
    ASSERT_LE(at + all.size(), words.size());
    std::copy(all.begin(), all.end(), words.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void Write(std::uint64_t generation, const Record& record) {
    const LedgerRing::Slot slot = shape.SlotFor(written, record.size());
    std::vector<std::uint64_t> skip;
    shape.MakeSkip(written, slot, skip);
    Put(written, skip);
    shape.MakeFrame(slot, durable, generation, record, frame);
    Put(slot.position, frame);
    last_at = slot.position;
    written = slot.end;
  }
  // What a reader finds behind `position`.
  std::optional<std::pair<std::uint64_t, Record>> ReadNext() {
    std::uint64_t generation = 0;
    Record record;
    if (!shape.ReadNext(bytes(), read, generation, record)) return std::nullopt;
    return std::pair(generation, record);
  }

  LedgerRing shape;
  std::vector<std::uint64_t> words;
  std::uint64_t written = 0;
  std::uint64_t durable = 0;
  std::uint64_t read = 0;
  std::vector<std::uint64_t> frame;  // the last one
  std::uint64_t last_at = 0;
};

Record RandomRecord(std::mt19937_64& random, std::uint64_t most_words) {
  Record record(2 + random() % (most_words - 1));
  for (std::uint64_t& word : record) word = random();
  return record;
}

class Rings : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(All, Rings, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "padded" : "unpadded"; });

TEST_P(Rings, GiveBackWhatWasWritten) {
  std::mt19937_64 random(TestSeed());
  Ring ring(GetParam());
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    std::vector<Record> records;
    for (std::uint64_t count = random() % 4; records.size() < count;) {
      records.push_back(RandomRecord(random, ring.shape.most_record_words() - 2));
      if (!ring.shape.HasRoom(ring.written, ring.read, records.back().size())) {
        records.pop_back();
        break;
      }
      ring.Write(i, records.back());
      if (GetParam()) {
        ASSERT_EQ(ring.written % LedgerRing::kLineWords, 0u);
      }
    }
    for (const Record& record : records) ASSERT_EQ(ring.ReadNext(), std::pair(i, record));
    ASSERT_EQ(ring.ReadNext(), std::nullopt);
  }
  EXPECT_GT(ring.written, 20 * ring.shape.words()) << "the ring has not wrapped";
}

// Some words of a frame are not there yet: they are zeros, or have what was there before.
TEST_P(Rings, GiveNoIncompleteRecord) {
  std::mt19937_64 random(TestSeed());
  Ring ring(GetParam());
  for (int i = 0; i < 3'000; ++i) {
    const std::vector<std::uint64_t> before = ring.words;
    const Record record = RandomRecord(random, 40);
    ring.Write(1, record);
    const std::uint64_t at = ring.shape.OffsetOf(ring.last_at) / txn::kWordBytes;
    // A frame's header and its record; the padding behind has no meaning.
    const std::uint64_t meaningful = 5 + record.size();
    const std::vector<std::uint64_t> whole = ring.words;
    bool differs = false;
    for (std::uint64_t word = at; word < at + meaningful; ++word) {
      if (random() % 3 != 0) continue;
      ring.words[word] = random() % 2 == 0 ? 0 : before[word];
      differs = differs || ring.words[word] != whole[word];
    }
    const std::uint64_t position = ring.read;
    if (differs) {
      ASSERT_EQ(ring.ReadNext(), std::nullopt);
    }
    ring.words = whole;
    ring.read = position;
    ASSERT_EQ(ring.ReadNext(), std::pair(std::uint64_t{1}, record));
  }
}

TEST_P(Rings, GiveNoRecordOfAnotherRoundOrRun) {
  std::mt19937_64 random(TestSeed());
  Ring ring(GetParam());
  while (ring.written < ring.shape.words()) ring.Write(1, RandomRecord(random, 9));
  std::uint64_t generation = 0;
  Record record;
  std::uint64_t next_round = ring.shape.words();
  const LedgerRing another(ring.shape.words(), kRun + 1, GetParam());
  std::uint64_t first = 0;
  if (ring.last_at < ring.shape.words()) {  // nothing was written in the next round
    EXPECT_FALSE(ring.shape.ReadNext(ring.bytes(), next_round, generation, record));
    EXPECT_TRUE(ring.shape.ReadNext(ring.bytes(), first, generation, record));
    first = 0;
  }
  EXPECT_FALSE(another.ReadNext(ring.bytes(), first, generation, record));
}

// The writer has learnt of some frames that they were durable. A later frame tells it.
TEST_P(Rings, TellWhetherALostRecordWasDurable) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 300; ++i) {
    Ring ring(GetParam());
    for (std::uint64_t turn = random() % 8 * ring.shape.words(); ring.written < turn;) {
      ring.Write(1, RandomRecord(random, 40));
    }
    const std::uint64_t drained = ring.written;
    const std::uint64_t end = drained + ring.shape.words();
    std::vector<std::uint64_t> starts;
    const auto write = [&] {
      ring.Write(1, RandomRecord(random, 20));
      starts.push_back(ring.last_at);
    };
    for (int records = 0; records < 4; ++records) write();
    ring.durable = starts[2];
    write();
    const std::size_t lost = random() % starts.size();
    const std::uint64_t at = ring.shape.OffsetOf(starts[lost]) / txn::kWordBytes;
    ring.words[at + random() % 6] ^= std::uint64_t{1} << random() % 64;
    ring.read = drained;
    for (std::size_t record = 0; record < lost; ++record) ASSERT_NE(ring.ReadNext(), std::nullopt);
    ASSERT_EQ(ring.ReadNext(), std::nullopt);
    EXPECT_EQ(ring.shape.WasDurable(ring.bytes(), ring.read, end), lost < 2) << lost;
  }
}

TEST(Ledgers, AreKeptByMemoryNodesIfThereAreAny) {
  const auto keeper = [](NodeId nodes, NodeId compute, NodeId node) {
    return txn::Ledger::KeeperOf(Unwrap(Topology::Make(nodes, compute)), node);
  };
  EXPECT_EQ(keeper(1, 1, 0), 0u);
  EXPECT_EQ(keeper(3, 3, 0), 1u);
  EXPECT_EQ(keeper(3, 3, 2), 0u);
  EXPECT_EQ(keeper(4, 2, 0), 2u);
  EXPECT_EQ(keeper(4, 2, 1), 3u);
  EXPECT_EQ(keeper(5, 4, 3), 4u);
}

}  // namespace
}  // namespace slimgraph::test
