// How a transaction runs and retries, and how it finds the blocks of its edges.
#include "txnlayer/graph/graph_transaction.h"

#include <algorithm>
#include <numeric>

#include "slimgraph/base/clock.h"

namespace slimgraph::txn {
namespace {

// Remembered depths of blocks, for vertices whose trees have grown.
constexpr std::size_t kHints = 1024;
// Steps up or down the tree, after which the values read must come from two states.
constexpr int kMostSteps = 2 * static_cast<int>(kMaxDepth) + 2;

}  // namespace

GraphTransaction::GraphTransaction(TransactionalGraph& graph, Transaction& transaction)
    : graph_(graph),
      transaction_(transaction),
      base_(graph, transaction),
      names_first_(graph.engine().protocol().fetches_once()),
      steps_(graph.engine().protocol(), StepwiseFetch::Unnamed::kLook),
      hints_(kHints) {}

Verdict GraphTransaction::Run(const Body& body, bool only_reads) {
  Verdict verdict;
  std::uint32_t conflicts = 0;
  for (bool again = false;; again = true) {
    ++verdict.tries;
    transaction_.Begin(again, NowNs(), only_reads);
    Open(again);
    Answer answer = body(*this);
    if (answer == Answer::kNo && !RollBack()) answer = Answer::kAborted;
    if (answer == Answer::kYes && !Commit()) answer = Answer::kAborted;
    verdict.end = answer;
    if (answer != Answer::kAborted) return verdict;
    if (transaction_.task().worker().failed()) return verdict;
    if (learning()) continue;
    verdict.cause = Cause();
    if (IsRefusal(transaction_.reason())) return verdict;
    if (++conflicts >= graph_.options().most_tries) return verdict;
    if (transaction_.reason() != AbortReason::kUser) transaction_.BackOff(conflicts);
  }
}

std::string GraphTransaction::Cause() const {
  const std::string_view protocol = graph_.engine().protocol().name();
  if (transaction_.reason() == AbortReason::kBadValue) return refusal_;
  const Conflict& conflict = transaction_.conflict();
  const bool refused = IsRefusal(transaction_.reason());
  const char* const reason =
      refused ? RefusalText(transaction_.reason()) : AbortReasonName(transaction_.reason());
  if (conflict.table == nullptr) return fmt::format("{} ({})", reason, protocol);
  return fmt::format("{}: {} ({}, {})", reason, graph_.Describe(*conflict.table, conflict.key),
                     protocol, StageName(conflict.stage));
}

void GraphTransaction::Open(bool again) {
  if (!again) steps_.Forget();
  steps_.Begin();
  seen_ = 0;
  dropped_after_ = 0;
  vertex_change_ = 0;
  edge_change_ = 0;
  uncommitted_journal_.clear();
  written_blocks_.clear();
  written_vertices_.clear();
}

bool GraphTransaction::Commit() {
  if (written_blocks_.empty() && written_vertices_.empty()) {
    if (!transaction_.Commit()) return false;
    graph_.clock().Saw(seen_);
    committed_at_ = seen_;
    return true;
  }
  if (!transaction_.EnterCommit()) return false;
  if (dropped_after_ > graph_.pinned()) {
    transaction_.Abort(AbortReason::kOvertaken);
    return false;
  }
  const GraphTime time = graph_.clock().Next(seen_);
  for (const Access* const access : written_blocks_) BlockOf(*access).SetCommitTime(time);
  for (const WrittenVertex& written : written_vertices_) {
    auto record = written.access->Get<VertexRecord>();
    record.time = time;
    if (record.since == kTimePending) record.since = time;
    if (written.since <= graph_.pinned()) record.alive_before = written.alive;
    std::memcpy(written.access->record(), &record, sizeof record);
  }
  if (!transaction_.Commit()) return false;
  committed_at_ = time;
  if (!written_blocks_.empty()) graph_.CountWritten(written_blocks_.size());
  if (!uncommitted_journal_.empty()) {
    journal_.insert(journal_.end(), {time, uncommitted_journal_.size()});
    journal_.insert(journal_.end(), uncommitted_journal_.begin(), uncommitted_journal_.end());
  }
  return true;
}

bool GraphTransaction::RollBack() {
  transaction_.Abort();
  return !learning();
}

bool GraphTransaction::CheckName(VertexName vertex) {
  const VertexName most = MaxVertexName(graph_.shape().directed);
  if (vertex <= most) return true;
  refusal_ = fmt::format("vertex {} is out of range: names are at most {}", vertex, most);
  transaction_.Abort(AbortReason::kBadValue);
  return false;
}

bool GraphTransaction::CheckProperties(const char* what, Bytes properties, std::uint32_t bytes) {
  if (properties.empty() || properties.size() == bytes) return true;
  refusal_ = fmt::format("{} bytes of properties were given for {}, which carries {}",
                         properties.size(), what, bytes);
  transaction_.Abort(AbortReason::kBadValue);
  return false;
}

Access* GraphTransaction::FetchTuple(Table& table, Key key, bool write) {
  const Want want{&table, key, write};
  Access* access = nullptr;
  return FetchTuples({&want, 1}, &access) ? access : nullptr;
}

// The transaction has read states from before and after a commit. It cannot commit.
bool GraphTransaction::AbortInconsistent() {
  transaction_.Abort(AbortReason::kChanged);
  return false;
}

bool GraphTransaction::AbortNodeLost() {
  transaction_.Abort(AbortReason::kNodeLost);
  return false;
}

unsigned GraphTransaction::DepthHint(const BlockTree& vertex) const {
  const Hint& hint = hints_[Mix(vertex.name) % kHints];
  return hint.vertex == vertex.name ? std::max(hint.depth, vertex.first_depth) : vertex.first_depth;
}

void GraphTransaction::SetHint(const BlockTree& vertex, unsigned depth) {
  if (depth > vertex.first_depth) hints_[Mix(vertex.name) % kHints] = {vertex.name, depth};
}

// Starts at any depth: each block tells whether it is the right one, or whether to go up or down.
// The transaction depends only on the block that it finds, not on those on the way.
bool GraphTransaction::FindSides(std::span<Side> sides, bool write) {
  for (Side& side : sides) {
    side.depth = DepthHint(side.vertex);
    side.access = nullptr;
  }
  for (int step = 0; step < kMostSteps; ++step) {
    wants_.clear();
    searching_.clear();
    for (Side& side : sides) {
      if (side.access != nullptr) continue;
      const std::uint32_t block = txn::BlockOf(side.neighbour, side.depth);
      wants_.push_back(
          {&graph_.blocks(), BlockKey(side.vertex.name, block), write && names_first_, write});
      searching_.push_back(&side);
    }
    if (wants_.empty()) return true;
    found_.resize(wants_.size());
    if (!FetchTuples(wants_, found_.data())) return false;
    for (std::size_t i = 0; i < searching_.size(); ++i) {
      Side& side = *searching_[i];
      const EdgeBlock block = BlockOf(*found_[i]);
      const bool exists = found_[i]->exists();
      if (exists) Saw(block.written_at());
      switch (side.vertex.StateOf(side.depth, exists, block)) {
        case BlockState::kSplit:
          ++side.depth;
          break;
        case BlockState::kNone:
          --side.depth;
          break;
        case BlockState::kOpen:
          side.open = true;
          side.access = found_[i];
          break;
        case BlockState::kDead:
          side.open = false;
          side.access = found_[i];
      }
      if (side.access != nullptr) SetHint(side.vertex, side.depth);
    }
  }
  return AbortInconsistent();
}

// Announces writes to the sides' blocks. Protocols that read first do this without communication.
bool GraphTransaction::AcquireSides(std::span<Side> sides) {
  wants_.clear();
  for (const Side& side : sides) wants_.push_back({&graph_.blocks(), side.access->key, true});
  found_.resize(wants_.size());
  return FetchTuples(wants_, found_.data());
}

bool GraphTransaction::AcquireBlocks(std::span<Access* const> blocks) {
  wants_.clear();
  for (const Access* const block : blocks) wants_.push_back({&graph_.blocks(), block->key, true});
  found_.resize(wants_.size());
  return FetchTuples(wants_, found_.data());
}

// Collects all blocks that can have edges of the vertex, level by level, into `all_blocks_`.
bool GraphTransaction::AllBlocks(const BlockTree& vertex, bool write, bool& alive) {
  all_blocks_.clear();
  alive = true;
  level_.resize(BlocksAt(vertex.first_depth));
  std::iota(level_.begin(), level_.end(), FirstBlockAt(vertex.first_depth));
  for (unsigned depth = vertex.first_depth; !level_.empty(); ++depth) {
    wants_.clear();
    for (const std::uint32_t block : level_) {
      wants_.push_back(
          {&graph_.blocks(), BlockKey(vertex.name, block), write && names_first_, write});
    }
    found_.resize(wants_.size());
    if (!FetchTuples(wants_, found_.data())) return false;
    below_.clear();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const EdgeBlock block = BlockOf(*found_[i]);
      const bool exists = found_[i]->exists();
      if (exists) Saw(block.written_at());
      const BlockState state = vertex.StateOf(depth, exists, block);
      if (state == BlockState::kNone) return AbortInconsistent();
      if (state == BlockState::kSplit) {
        for (std::uint32_t child = 1; child <= kFanOut; ++child) {
          below_.push_back(kFanOut * level_[i] + child);
        }
        continue;
      }
      const bool open = state == BlockState::kOpen;
      if (!all_blocks_.empty() && alive != open) return AbortInconsistent();
      alive = open;
      all_blocks_.push_back(found_[i]);
    }
    level_.swap(below_);
  }
  return true;
}

// Splits a block into its eight children.
bool GraphTransaction::Split(Side& side) {
  if (side.depth == kMaxDepth) {
    transaction_.Abort(AbortReason::kNoRoom);
    return false;
  }
  const std::uint32_t number = BlockOfKey(side.access->key);
  Want wants[kFanOut];
  Access* children[kFanOut];
  for (std::uint32_t i = 0; i < kFanOut; ++i) {
    wants[i] = {&graph_.blocks(), BlockKey(side.vertex.name, kFanOut * number + 1 + i), true};
  }
  if (!FetchTuples(wants, children)) return false;
  for (Access* const child : children) {
    if (child->exists()) return AbortInconsistent();
    child->SetExists(true);
    BlockOf(*child).Clear(BlockKind::kOpen);
    written_blocks_.push_back(child);
  }
  const auto block = [&](std::size_t i) { return BlockOf(*children[i]); };
  EdgeBlock below[kFanOut] = {block(0), block(1), block(2), block(3),
                              block(4), block(5), block(6), block(7)};
  BlockOf(*side.access).SplitInto(below, side.depth);
  ++side.depth;
  SetHint(side.vertex, side.depth);
  side.access = children[(txn::BlockOf(side.neighbour, side.depth) - 1) % kFanOut];
  return true;
}

// `side` must be owned.
bool GraphTransaction::Put(Side& side, bool alive, bool in_base, Bytes properties) {
  while (true) {
    EdgeBlock block = BlockOf(*side.access);
    if (!side.access->exists()) {
      side.access->SetExists(true);
      block.Clear(BlockKind::kOpen);
    }
    written_blocks_.push_back(side.access);
    EdgeEntry* entry = block.Put(side.neighbour, alive, in_base);
    if (entry == nullptr) {
      DropInvisible(block);
      entry = block.Put(side.neighbour, alive, in_base);
    }
    if (entry != nullptr) {
      if (alive) {
        std::memset(block.properties(*entry), 0, graph_.shape().edge_bytes);
        std::copy(properties.begin(), properties.end(), block.properties(*entry));
      }
      return true;
    }
    if (!Split(side)) return false;
  }
}

// Nodes do not pin a snapshot's time at the same moment. Where it is pinned already, transactions
// may have committed after it, and this block has their entries. Then those before them are still
// needed, although this node knows of no snapshot yet. It will before this transaction commits.
void GraphTransaction::DropInvisible(EdgeBlock block) {
  const GraphTime pinned = graph_.pinned();
  if (block.written_at() <= pinned) dropped_after_ = std::max(dropped_after_, block.written_at());
  block.DropInvisible(pinned);
}

bool GraphTransaction::PutOnBoth(std::span<Side> sides, bool alive, bool in_base,
                                 Bytes properties) {
  return std::all_of(sides.begin(), sides.end(),
                     [&](Side& side) { return Put(side, alive, in_base, properties); });
}

}  // namespace slimgraph::txn
