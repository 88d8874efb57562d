#include "dgemini/internal/reduction_server.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "dgemini/internal/forest.h"
#include "dgemini/internal/reducer.h"
#include "dgemini/internal/reductions.h"
#include "dgemini/workload.h"
#include "slimgraph/base/thread_team.h"

namespace slimgraph::dgemini {
namespace {

std::map<std::uint32_t, MakeReducer>& AllReductions() {
  static std::map<std::uint32_t, MakeReducer> all;
  return all;
}

class ReductionServer {
 public:
  explicit ReductionServer(Workload& work)
      : work_(work),
        exchange_(*work.reductions()),
        code_(work.vertices()),
        team_(work.threads()),
        in_(work.vertices()),
        wanted_(work.vertices()),
        threads_(work.threads()) {
    for (const Direction direction : {Direction::kOut, Direction::kIn}) CutBlocks(direction);
  }

  Status Run() {
    const Exchange::Nodes compute{0, work_.compute()};
    const Exchange::Nodes memory{work_.compute(), exchange_.nodes()};
    while (true) {
      for (Frontier* const frontier : {&in_, &wanted_}) {
        frontier->SetHasRemoteBits();
        frontier->Clear();
      }
      bits_ = 0;
      exchange_.BeginBetween(compute, {0, exchange_.nodes()},
                             [this](NodeId, Bytes message) { Receive(message); });
      SLIM_TRY(exchange_.End());
      if ((bits_ & kEndOfReductions) != 0) return {};
      exchange_.BeginBetween(memory, compute, {});
      if ((bits_ & kJoinComponents) != 0) {
        for (const NodeId worker : Workers()) Join(worker);
      } else if (bits_ != 0) {
        ReduceLists();
      }
      SLIM_TRY(SendResults());
      SLIM_TRY(exchange_.End());
    }
  }

 private:
  struct Block {
    const Workload::ServedSlot* slot;
    VertexId first;
    VertexId end;
  };
  struct OfThread {
    Reducer::Scratch scratch;
    std::vector<std::byte> block;
    // Messages to a node, with room for their heads. The last one is not full.
    std::map<NodeId, std::vector<std::vector<std::byte>>> messages;
    std::uint64_t busy_ns = 0;
  };

  void CutBlocks(Direction direction) {
    auto& slots = slots_[static_cast<int>(direction)];
    slots = work_.served_slots(direction);
    for (const Workload::ServedSlot& slot : slots) {
      const VertexId last = slot.part.first + slot.part.count;
      for (VertexId first = slot.part.first; first < last;) {
        const std::uint64_t next =
            (std::uint64_t{first} / kReducedBlockVertices + 1) * kReducedBlockVertices;
        const auto end = static_cast<VertexId>(std::min<std::uint64_t>(next, last));
        blocks_[static_cast<int>(direction)].push_back({&slot, first, end});
        first = end;
      }
    }
  }

  void Receive(Bytes message) {
    std::size_t at = 0;
    bits_ = Take<std::uint32_t>(message, at);
    if ((bits_ & (kEndOfReductions | kJoinComponents)) != 0) return;
    if ((bits_ & kWantedVertices) != 0) return Mirror::TakeBits(message, wanted_);
    const std::uint32_t number = bits_ / kFirstReductionBit;
    PrepareReducer(number);
    reducer_->TakeMessage(message, in_);
  }

  void PrepareReducer(std::uint32_t number) {
    if (reducer_ && number_ == number) return;
    reducer_ = MakeReducerOf(number, work_.vertices());
    number_ = number;
  }

  void ReduceLists() {
    PrepareReducer(bits_ / kFirstReductionBit);
    const auto& blocks =
        blocks_[static_cast<int>((bits_ & kOverInLists) != 0 ? Direction::kIn : Direction::kOut)];
    ForEach(blocks.size(), [&](OfThread& thread, std::size_t i) { Reduce(thread, blocks[i]); });
  }

  // Calls body(thread, i) for i = 0 .. count - 1, on all threads.
  template <typename Body>
  void ForEach(std::size_t count, Body body) {
    std::atomic<std::size_t> next{0};
    team_.Run([&](std::uint32_t t) {
      const std::uint64_t start_ns = NowNs();
      for (std::size_t i = next++; i < count; i = next++) body(threads_[t], i);
      threads_[t].busy_ns += NowNs() - start_ns;
    });
  }

  // The compute nodes that work on this node's lists.
  std::vector<NodeId> Workers() const {
    std::vector<NodeId> workers;
    for (const Workload::ServedSlot& slot : slots_[0]) workers.push_back(slot.worker);
    std::sort(workers.begin(), workers.end());
    workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
    return workers;
  }

  // Joins the vertices of the lists on which `worker` works, as if no other node had lists.
  void Join(NodeId worker) {
    VertexArray<VertexId> parent(work_.vertices());
    for (VertexId v = 0; v < work_.vertices(); ++v) parent[v] = v;
    Forest forest(parent);
    ForEach(blocks_[0].size(), [&](OfThread& thread, std::size_t i) {
      if (blocks_[0][i].slot->worker == worker) JoinBlock(blocks_[0][i], thread.scratch, forest);
    });
    const std::size_t blocks =
        (std::size_t{work_.vertices()} + kReducedBlockVertices - 1) / kReducedBlockVertices;
    ForEach(blocks, [&](OfThread& thread, std::size_t i) {
      const std::uint64_t first = i * kReducedBlockVertices;
      const std::uint64_t end =
          std::min<std::uint64_t>(first + kReducedBlockVertices, work_.vertices());
      ReducedBlock<JoinedComponents> joined(first / 64);
      for (std::uint64_t at = first; at < end; ++at) {
        const auto v = static_cast<VertexId>(at);
        if (const VertexId root = forest.Root(v); root != v) joined.Add(v, root);
      }
      thread.block.clear();
      joined.AppendTo(thread.block);
      Put(thread, worker);
    });
  }

  // In an undirected graph, an edge is also in the list of its other vertex.
  void JoinBlock(const Block& block, Reducer::Scratch& scratch, Forest& forest) const {
    const VertexId lists_first = block.slot->first;
    const ServedLists& lists = *block.slot->lists;
    VisitServedLists(lists, code_, block.first - lists_first, block.end - lists_first,
                     [&, first = lists_first](VertexId i, std::uint64_t first_byte, EdgeOffset,
                                              std::size_t length) {
                       if (length == 0) return;
                       if (scratch.ids.size() < length) scratch.ids.resize(length);
                       const auto ids = std::span(scratch.ids).first(length);
                       SLIM_CHECK(code_.Decode(lists.lists.data() + first_byte, ids));
                       const VertexId v = first + i;
                       const auto end = work_.directed()
                                            ? ids.end()
                                            : std::lower_bound(ids.begin(), ids.end(), v);
                       forest.JoinAll(v, {ids.begin(), end});
                       SimulateWork(2 * length);
                     });
  }

  Status SendResults() {
    std::uint64_t busy_ns = 0;
    for (const OfThread& thread : threads_) busy_ns += thread.busy_ns;
    for (OfThread& thread : threads_) {
      for (auto& [worker, messages] : thread.messages) {
        for (std::vector<std::byte>& message : messages) {
          const ReductionHead head{busy_ns};
          std::memcpy(message.data() + sizeof(Exchange::Header), &head, sizeof head);
          SLIM_TRY(exchange_.Send(worker, message));
        }
        messages.clear();
      }
    }
    return {};
  }

  void Reduce(OfThread& thread, const Block& block) {
    thread.block.clear();
    const ListBlock lists{*block.slot->lists, code_,       work_.weight_bytes(),
                          block.slot->first,  block.first, block.end};
    reducer_->Reduce(lists, in_, wanted_, thread.scratch, thread.block);
    Put(thread, block.slot->worker);
  }

  // Adds the thread's block to a message.
  static void Put(OfThread& thread, NodeId worker) {
    if (thread.block.empty()) return;
    auto& messages = thread.messages[worker];
    if (messages.empty() || messages.back().size() + thread.block.size() > Exchange::kMaxBytes) {
      messages.emplace_back(sizeof(Exchange::Header) + sizeof(ReductionHead));
    }
    messages.back().insert(messages.back().end(), thread.block.begin(), thread.block.end());
  }

  Workload& work_;
  Exchange& exchange_;
  const ListCode code_;
  ThreadTeam team_;
  Frontier in_;
  Frontier wanted_;
  std::vector<OfThread> threads_;
  std::vector<Workload::ServedSlot> slots_[2];  // by direction
  std::vector<Block> blocks_[2];                // by direction
  std::uint32_t bits_ = 0;                      // of a message of the step; 0: there was none
  std::uint32_t number_ = 0;                    // of the reduction
  std::unique_ptr<Reducer> reducer_;
};

}  // namespace

std::uint32_t RegisterReduction(std::uint32_t number, MakeReducer make) {
  const auto [at, added] = AllReductions().emplace(number, make);
  SLIM_CHECK(added && number > 0, "two reductions have the number {}", number);
  return number;
}

std::unique_ptr<Reducer> MakeReducerOf(std::uint32_t number, VertexId vertices) {
  const auto make = AllReductions().find(number);
  SLIM_CHECK(make != AllReductions().end(), "this program does not have reduction {}", number);
  return make->second(vertices);
}

Status ReduceLists(Workload& work) { return ReductionServer(work).Run(); }

Status EndReductions(Exchange& exchange, NodeId compute) {
  exchange.BeginBetween({0, compute}, {0, exchange.nodes()}, [](NodeId, Bytes) {});
  for (NodeId i = 0; i < exchange.peers(); ++i) {
    if (exchange.peer(i) < compute) continue;
    struct {
      Exchange::Header header{};
      std::uint32_t bits = kEndOfReductions;
    } message;
    SLIM_TRY(exchange.SendLast(exchange.peer(i), std::as_writable_bytes(std::span(&message, 1))));
  }
  return exchange.End();
}

}  // namespace slimgraph::dgemini
