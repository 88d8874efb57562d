#include "dkudu/standing_lists.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "slimgraph/remote/compact_offsets.h"

namespace slimgraph::dkudu {
namespace {

constexpr std::array<std::string_view, 3> kViews = {"upper", "all", "arcs"};

// `dense`: the dense ids of the lists, by number. `sizes`: of the whole file's lists.
Result<std::unique_ptr<SharedMemory>> MakeDescription(const FileLists::Sizes& sizes,
                                                      const std::vector<VertexId>& dense) {
  SLIM_ASSIGN(
      auto memory,
      SharedMemory::Create(StandingLists::DescriptionBytes(static_cast<VertexId>(dense.size()))));
  StandingLists::Head head{.sums = sizes.sums};
  auto* const lengths = reinterpret_cast<std::uint32_t*>(memory->base() + sizeof head);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    lengths[i] = sizes.lengths[dense[i]];
    head.arcs += lengths[i];
  }
  std::memcpy(memory->base(), &head, sizeof head);
  std::copy(dense.begin(), dense.end(), reinterpret_cast<VertexId*>(lengths + dense.size()));
  SLIM_TRY(memory->Seal());
  return memory;
}

}  // namespace

std::string_view ViewName(ListPart part) { return kViews[static_cast<std::size_t>(part)]; }

Result<ListPart> PartOfView(std::string_view name) {
  for (std::size_t i = 0; i < kViews.size(); ++i) {
    if (kViews[i] == name) return static_cast<ListPart>(i);
  }
  return UsageError("'{}' is no view of a graph", name);
}

Result<StandingPart> LoadStandingLists(const std::string& path, const std::string& shown,
                                       ListPart part, NodeId home, NodeId homes) {
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(path, shown));
  part = PartFor(file, part);
  SLIM_TRY(CheckForMining(file, part));
  SLIM_ASSIGN(const DegreeOrder order, DegreeOrder::Of(file));
  FileLists lists(file, part, order.rank_of(), {.first = 0, .stride = 1, .count = file.vertices()},
                  /*threads=*/1, {home, homes});
  SLIM_ASSIGN(const FileLists::Sizes sizes, lists.Measure());
  std::vector<VertexId> dense;
  for (std::size_t v = home; v < file.vertices(); v += homes) dense.push_back(order.dense_of[v]);
  const ListCode code(file.vertices() << EntryBits(part));
  CompactOffsets index(code);
  index.Reserve(static_cast<VertexId>(dense.size()));
  for (const VertexId v : dense) index.Append(sizes.lengths[v]);
  index.Finish();

  StandingPart made{.facts = std::string(ViewName(part)), .memories = {}};
  SLIM_ASSIGN(auto description, MakeDescription(sizes, dense));
  // A memory cannot be empty.
  SLIM_ASSIGN(auto coded, SharedMemory::Create(std::max<std::uint64_t>(index.coded_bytes(), 1)));
  for (bool more = true; more;) {
    SLIM_ASSIGN(more, lists.VisitNext([&](std::size_t /*piece*/, VertexId rank, List list) {
      code.Encode(list, coded->base() + index.FindByte(rank / homes));
    }));
  }
  SLIM_TRY(coded->Seal());
  made.memories.push_back(std::move(description));
  made.memories.push_back(std::move(coded));
  return made;
}

Result<StandingLists> StandingLists::Open(const std::string& facts,
                                          std::span<const std::unique_ptr<SharedMemory>> memories) {
  StandingLists lists;
  SLIM_ASSIGN(lists.part_, PartOfView(facts));
  if (memories.size() != 2 || memories[0]->bytes() < sizeof(Head)) {
    return EnvironmentError("the pool's memory is not that of lists for mining");
  }
  lists.memories_ = memories;
  return lists;
}

}  // namespace slimgraph::dkudu
