#include "dkudu/standing_lists.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "dkudu/internal/graph/ranked_file.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/remote/compact_offsets.h"

namespace slimgraph::dkudu {
namespace {

constexpr std::array<std::string_view, 3> kViews = {"upper", "all", "arcs"};

// The lists of one home, by number, and how it describes them.
struct HomeLists {
  std::vector<VertexId> dense;  // their vertices
  std::vector<std::uint32_t> lengths;
  DegreeSums sums;
};

Result<std::unique_ptr<SharedMemory>> MakeDescription(const HomeLists& lists) {
  SLIM_ASSIGN(auto memory, SharedMemory::Create(StandingLists::DescriptionBytes(
                               static_cast<VertexId>(lists.dense.size()))));
  StandingLists::Head head{.sums = lists.sums};
  for (const std::uint32_t length : lists.lengths) head.arcs += length;
  std::memcpy(memory->base(), &head, sizeof head);
  auto* const lengths = reinterpret_cast<std::uint32_t*>(memory->base() + sizeof head);
  std::ranges::copy(lists.lengths, lengths);
  std::ranges::copy(lists.dense, reinterpret_cast<VertexId*>(lengths + lists.lengths.size()));
  SLIM_TRY(memory->Seal());
  return memory;
}

// Where to encode the list of a rank.
using PlaceOf = std::function<std::byte*(VertexId rank)>;

// Makes a home's part. `encode` encodes each of its lists.
Result<StandingPart> MakePart(ListPart part, const ListCode& code, NodeId homes,
                              const HomeLists& lists,
                              const std::function<Status(const PlaceOf&)>& encode) {
  CompactOffsets index(code);
  index.Reserve(static_cast<VertexId>(lists.lengths.size()));
  for (const std::uint32_t length : lists.lengths) index.Append(length);
  index.Finish();
  StandingPart made{.facts = std::string(ViewName(part)), .memories = {}};
  SLIM_ASSIGN(auto description, MakeDescription(lists));
  SLIM_ASSIGN(auto coded, SharedMemory::Create(index.coded_bytes() + ListCode::kSlackBytes));
  SLIM_TRY(encode([&](VertexId rank) { return coded->base() + index.FindByte(rank / homes); }));
  SLIM_TRY(coded->Seal());
  made.memories.push_back(std::move(description));
  made.memories.push_back(std::move(coded));
  return made;
}

Result<StandingPart> PartOfRanked(const GraphSource& file, ListPart part, const ListCode& code,
                                  DealtOut wanted) {
  SLIM_ASSIGN(const RankedFile ranked, RankedFile::Open(file, part, /*threads=*/1));
  HomeLists lists;
  lists.sums = ranked.SumsOfLists(wanted);
  for (std::size_t rank = wanted.home; rank < file.vertices(); rank += wanted.homes) {
    lists.dense.push_back(ranked.dense_of()[rank]);
    lists.lengths.push_back(ranked.length(static_cast<VertexId>(rank)));
  }
  return MakePart(part, code, wanted.homes, lists, [&](const PlaceOf& place_of) {
    return ranked.VisitLists(wanted, 1, [&](VertexId rank, Bytes coded, List list) {
      if (part == ListPart::kUpper) return code.Encode(list, place_of(rank));
      std::memcpy(place_of(rank), coded.data(), coded.size());
    });
  });
}

Result<StandingPart> PartOfLists(const GraphSource& file, ListPart part, const ListCode& code,
                                 DealtOut wanted) {
  SLIM_ASSIGN(const DegreeOrder order, DegreeOrder::Of(file));
  FileLists file_lists(file, part, order.rank_of(),
                       {.first = 0, .stride = 1, .count = file.vertices()}, /*threads=*/1, wanted);
  SLIM_ASSIGN(const FileLists::Sizes sizes, file_lists.Measure());
  HomeLists lists;
  lists.sums = sizes.sums;
  for (std::size_t rank = wanted.home; rank < file.vertices(); rank += wanted.homes) {
    lists.dense.push_back(order.dense_of[rank]);
    lists.lengths.push_back(sizes.lengths[lists.dense.back()]);
  }
  return MakePart(part, code, wanted.homes, lists, [&](const PlaceOf& place_of) -> Status {
    for (bool more = true; more;) {
      SLIM_ASSIGN(more, file_lists.VisitNext([&](std::size_t /*piece*/, VertexId rank, List list) {
        code.Encode(list, place_of(rank));
      }));
    }
    return {};
  });
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
  const ListCode code(file.vertices() << EntryBits(part));
  const bool ranked = RankedFile::Has(file, part);
  return (ranked ? PartOfRanked : PartOfLists)(file, part, code, {home, homes});
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
