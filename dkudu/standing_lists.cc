#include "dkudu/standing_lists.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "slimgraph/remote/compact_offsets.h"

namespace slimgraph::dkudu {
namespace {

constexpr std::array<std::string_view, 3> kViews = {"upper", "all", "arcs"};

Result<std::unique_ptr<SharedMemory>> MakeDescription(const FileLists::Sizes& sizes,
                                                      const std::vector<VertexId>& dense_of,
                                                      NodeId home, NodeId homes) {
  const auto count = static_cast<VertexId>(sizes.lengths.size());
  SLIM_ASSIGN(auto memory, SharedMemory::Create(StandingLists::DescriptionBytes(count)));
  StandingLists::Head head{.sums = sizes.sums};
  for (const std::uint32_t length : sizes.lengths) head.arcs += length;
  std::byte* at = memory->base();
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  std::copy(sizes.lengths.begin(), sizes.lengths.end(), reinterpret_cast<std::uint32_t*>(at));
  auto* const dense = reinterpret_cast<VertexId*>(at + count * sizeof(std::uint32_t));
  for (VertexId i = 0; i < count; ++i) dense[i] = dense_of[home + std::size_t{i} * homes];
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
  const FileLists lists(file, part, order.rank_of(), home, homes);
  SLIM_ASSIGN(const FileLists::Sizes sizes, lists.Measure());
  const ListCode code(file.vertices() << EntryBits(part));
  CompactOffsets index(code);
  index.Reserve(lists.count());
  for (const std::uint32_t length : sizes.lengths) index.Append(length);
  index.Finish();

  StandingPart made{.facts = std::string(ViewName(part)), .memories = {}};
  SLIM_ASSIGN(auto description, MakeDescription(sizes, order.dense_of, home, homes));
  // A memory cannot be empty.
  SLIM_ASSIGN(auto coded, SharedMemory::Create(std::max<std::uint64_t>(index.coded_bytes(), 1)));
  SLIM_TRY(lists.ForEach([&](VertexId number, List list) {
    code.Encode(list, coded->base() + index.FindByte(number));
  }));
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
