// Reads the ranked lists of a .slim file (slim_format.h), which are D-Kudu's lists ready to use. A
// faulty writer is possible, so every list is checked before it is used.
#pragma once

#include <functional>
#include <vector>

#include "dkudu/internal/graph/file_lists.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph::dkudu {

class RankedFile {
 public:
  // Whether the file has what such a part of each list can be made of.
  static bool Has(const GraphSource& file, ListPart part) {
    return part != ListPart::kArcs && file.has(SectionKind::kRankedLists);
  }
  // Reads which vertex has which rank, and the lengths. The file is only referred to.
  static Result<RankedFile> Open(const GraphSource& file, ListPart part, std::size_t threads);

  // By rank; moves it out.
  std::vector<VertexId> TakeDenseOf() { return std::move(dense_of_); }
  const std::vector<VertexId>& dense_of() const { return dense_of_; }
  // The length of a list as it is kept.
  std::uint32_t length(VertexId rank) const {
    return part_ == ListPart::kUpper ? lengths_[rank].above : lengths_[rank].all;
  }
  DegreeSums SumsOfLists(DealtOut wanted) const;

  // Calls visit(rank, coded, list) for each list that is wanted and not empty, from several threads
  // and in any order. `coded` is the code of the complete list; `list` is the part that is kept,
  // and may be empty.
  using Visit = std::function<void(VertexId rank, Bytes coded, List list)>;
  Status VisitLists(DealtOut wanted, std::size_t threads, const Visit& visit) const;

  // The memory that reading takes, without what Open() keeps and without that of a very long list.
  static std::uint64_t Bytes(std::size_t threads) {
    return threads * (kWindowBytes + kSlimBlockBytes);
  }

 private:
  static constexpr std::uint64_t kWindowBytes = 4 * kSlimBlockBytes;

  // A list's place in the order of the file.
  struct Cursor {
    VertexId stratum = 0;
    VertexId rank = 0;
  };
  // Consecutive lists that are read at a time.
  struct Window {
    Cursor first;
    VertexId lists = 0;
    std::uint64_t begin = 0;  // in the section
    std::uint64_t end = 0;
  };

  RankedFile(const GraphSource& file, ListPart part)
      : file_(file), part_(part), code_(file.vertices()) {}
  Status CheckRanks() const;
  // Checks the lengths, and computes where the strata begin.
  Status Measure();
  void Advance(Cursor& cursor) const;
  // The windows that have the wanted lists.
  std::vector<Window> Windows(DealtOut wanted) const;
  Status VisitWindow(const Window& window, DealtOut wanted, const Visit& visit) const;
  // Decodes and checks the list of a rank.
  Status Decode(VertexId rank, const std::byte* coded, std::vector<VertexId>& list) const;

  const GraphSource& file_;
  const ListPart part_;
  const ListCode code_;
  std::vector<VertexId> dense_of_;
  std::vector<RankedLength> lengths_;  // by rank
  std::vector<std::uint64_t> strata_;  // where each begins in the section; then the section's end
};

}  // namespace slimgraph::dkudu
