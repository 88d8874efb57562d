#include "txnlayer/internal/durability/ledger.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "slimgraph/base/check.h"
#include "slimgraph/base/mapped_file.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kMagic = 0x524547444C'4D4C53;  // "SLMLDGER"
constexpr std::uint64_t kPageBytes = 4096;

struct Head {
  std::uint64_t magic;
  std::uint64_t run;
  std::uint64_t rings;
  std::uint64_t ring_words;
  std::uint64_t checksum;  // of the fields before

  std::uint64_t Checksum() const { return XXH3_64bits(this, offsetof(Head, checksum)); }
};

std::uint64_t DrainedAt(std::uint32_t ring) { return kPageBytes + ring * kCacheLineBytes; }
std::uint64_t RingAt(std::uint64_t rings, std::uint64_t ring_words, std::uint64_t ring) {
  const std::uint64_t drained = (rings * kCacheLineBytes + kPageBytes - 1) / kPageBytes;
  return (1 + drained) * kPageBytes + ring * ring_words * kWordBytes;
}

// A position in a file, as one word, so that it is there as a whole or not at all. The upper bits
// tell whether it is damaged.
constexpr int kPositionBits = 48;
std::uint64_t ToWord(std::uint64_t position, std::uint64_t run) {
  const std::uint64_t check = XXH3_64bits_withSeed(&position, sizeof position, run);
  return position | check << kPositionBits;
}
std::optional<std::uint64_t> FromWord(std::uint64_t word, std::uint64_t run) {
  const std::uint64_t position = word & ((std::uint64_t{1} << kPositionBits) - 1);
  if (ToWord(position, run) != word) return std::nullopt;
  return position;
}

// The compute nodes whose commits `keeper` keeps.
std::vector<NodeId> WritersTo(const Topology& topology, NodeId keeper) {
  std::vector<NodeId> writers;
  for (NodeId node = 0; node < topology.compute(); ++node) {
    if (Ledger::KeeperOf(topology, node) == keeper) writers.push_back(node);
  }
  return writers;
}

Error Damaged(const std::string& path) {
  return Error{ErrorKind::kInput, fmt::format("{}: it is damaged", path)};
}

}  // namespace

NodeId Ledger::KeeperOf(const Topology& topology, NodeId node) {
  const NodeId memory_nodes = topology.nodes() - topology.compute();
  if (memory_nodes > 0) return topology.compute() + node % memory_nodes;
  return (node + 1) % topology.nodes();
}

Result<std::unique_ptr<Ledger>> Ledger::Begin(Cluster& cluster, const std::string& path,
                                              std::uint64_t run, const LedgerOptions& options,
                                              std::function<void(const Error&)> fail) {
  std::unique_ptr<Ledger> ledger(new Ledger(cluster));
  const std::uint64_t blocks = options.ring_bytes / kWordBytes / LedgerRing::kBlockWords;
  const std::uint64_t words = std::max(LedgerRing::kLeastWords, blocks * LedgerRing::kBlockWords);
  ledger->fail_ = std::move(fail);
  const Topology& topology = cluster.topology();
  const std::size_t writers = WritersTo(topology, cluster.self()).size();
  ledger->rings_ = static_cast<std::uint32_t>(writers * cluster.threads());
  ledger->by_read_ = options.flush == FlushBy::kRead;
  if (ledger->rings_ > 0) {
    const std::uint64_t bytes = RingAt(ledger->rings_, words, ledger->rings_);
    SLIM_ASSIGN(ledger->file_, SharedFile::Create(path, bytes));
    Head head{kMagic, run, ledger->rings_, words, 0};
    head.checksum = head.Checksum();
    StoreWords(ledger->file_->bytes().data(), reinterpret_cast<const std::byte*>(&head),
               sizeof head);
    ledger->run_ = run;
    ledger->positions_.resize(ledger->rings_);
    SLIM_TRY(ledger->SetAllDrained());
  }
  SLIM_ASSIGN(ledger->region_,
              cluster.fabric().ShareFile(ledger->file_, options.flush, ledger->fail_));
  ledger->sync_ = cluster.fabric().sync_of(ledger->region_.id);
  const bool not_here = ledger->file_ && !ledger->file_->persistent();
  SLIM_ASSIGN(const int not_anywhere, cluster.all().AllMax(not_here ? 1 : 0));
  ledger->persistent_ = not_anywhere == 0;
  const bool pads = options.align == LedgerAlign::kYes ||
                    (options.align == LedgerAlign::kAuto && ledger->persistent_);
  ledger->shape_ = LedgerRing(words, run, pads);
  return ledger;
}

Ledger::~Ledger() {
  if (sync_ != nullptr) sync_->Stop();
}

Ledger::Place Ledger::PlaceOf(std::uint32_t thread) const {
  const Topology& topology = cluster_.topology();
  const NodeId self = cluster_.self();
  const NodeId keeper = KeeperOf(topology, self);
  const std::vector<NodeId> writers = WritersTo(topology, keeper);
  const auto number = std::find(writers.begin(), writers.end(), self) - writers.begin();
  const std::uint64_t threads = cluster_.threads();
  const auto ring =
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) * threads + thread);
  return {keeper, ring, RingAt(writers.size() * threads, shape_.words(), ring)};
}

std::byte* Ledger::RingMemory(std::uint32_t ring) const {
  SLIM_CHECK(ring < rings_, "a ledger has {} rings, and {} was asked for", rings_, ring);
  return file_->bytes().data() + RingAt(rings_, shape_.words(), ring);
}

bool Ledger::Drain(std::uint32_t ring, std::uint64_t up_to, const Visit& visit) {
  DrainWhole(ring, up_to, visit);
  if (positions_[ring] >= up_to) return true;
  fail_({ErrorKind::kEnvironment, fmt::format("{}: a record in memory is damaged", file_->path())});
  return false;
}

void Ledger::DrainWhole(std::uint32_t ring, std::uint64_t up_to, const Visit& visit) {
  const std::byte* const memory = RingMemory(ring);
  std::uint64_t& position = positions_[ring];
  std::uint64_t generation = 0;
  Record record;
  while (position < up_to && shape_.ReadNext(memory, position, generation, record)) {
    visit(generation, record);
  }
}

void Ledger::DrainAll(const Visit& visit) {
  for (std::uint32_t ring = 0; ring < rings_; ++ring) DrainWhole(ring, ~std::uint64_t{0}, visit);
}

void Ledger::SetDrained(std::uint32_t ring, std::uint64_t position) {
  WordAt(file_->bytes().data() + DrainedAt(ring))
      .store(ToWord(position, run_), std::memory_order_release);
}

Status Ledger::SetAllDrained() {
  for (std::uint32_t ring = 0; ring < rings_; ++ring) SetDrained(ring, positions_[ring]);
  return file_ ? file_->Sync() : Status();
}

Result<Ledger::Found> Ledger::Read(
    const std::string& path, std::uint64_t generation,
    const std::function<bool(std::span<const std::uint64_t>)>& known) {
  SLIM_ASSIGN(const MappedFile file, MappedFile::Open(path));
  const Bytes bytes = file.bytes();
  Head head;
  if (bytes.size() < sizeof head) return tl::unexpected(Damaged(path));
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kMagic || head.checksum != head.Checksum() ||
      RingAt(head.rings, head.ring_words, head.rings) != bytes.size()) {
    return tl::unexpected(Damaged(path));
  }
  const LedgerRing shape(head.ring_words, head.run, /*pads=*/true);
  Found found;
  Record record;
  for (std::uint32_t ring = 0; ring < head.rings; ++ring) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + DrainedAt(ring), sizeof word);
    const std::optional<std::uint64_t> drained = FromWord(word, head.run);
    if (!drained) return tl::unexpected(Damaged(path));
    const std::byte* const memory = bytes.data() + RingAt(head.rings, head.ring_words, ring);
    std::uint64_t position = *drained;
    std::uint64_t of = 0;
    while (shape.ReadNext(memory, position, of, record)) {
      if (of != generation || known(record)) continue;
      found.words.push_back(record.size());
      found.words.insert(found.words.end(), record.begin(), record.end());
      ++found.records;
    }
    if (shape.WasDurable(memory, position, *drained + shape.words())) {
      return tl::unexpected(Damaged(path));
    }
  }
  return found;
}

}  // namespace slimgraph::txn
