#include "dkudu/internal/graph/ranked_file.h"

#include <algorithm>
#include <utility>

#include "slimgraph/base/parallel.h"

namespace slimgraph::dkudu {

Result<RankedFile> RankedFile::Open(const GraphSource& file, ListPart part, std::size_t threads) {
  RankedFile ranked(file, part);
  ranked.dense_of_.resize(file.vertices());
  SLIM_TRY(file.ReadElements(SectionKind::kRanks, 0, std::span(ranked.dense_of_), threads));
  SLIM_TRY(ranked.CheckRanks());
  ranked.lengths_.resize(file.vertices());
  SLIM_TRY(file.ReadElements(SectionKind::kRankedLengths, 0, std::span(ranked.lengths_), threads));
  SLIM_TRY(ranked.Measure());
  return ranked;
}

Status RankedFile::CheckRanks() const {
  std::vector<bool> seen(dense_of_.size());
  for (const VertexId v : dense_of_) {
    if (seen[v]) {
      return InputError("{}: damaged: two ranks are those of vertex {}", file_.path(), v);
    }
    seen[v] = true;
  }
  return {};
}

Status RankedFile::Measure() {
  std::vector<std::uint64_t> bytes(kStrata);
  for (VertexId rank = 0; rank < lengths_.size(); ++rank) {
    const auto [all, above] = lengths_[rank];
    if (above > all || above >= lengths_.size() - rank || all - above > rank) {
      return InputError("{}: damaged: the lengths of the list of rank {} are wrong", file_.path(),
                        rank);
    }
    bytes[StratumOf(rank % kStrata)] += code_.Bytes(all);
  }
  strata_.assign(1, 0);
  for (const std::uint64_t of_stratum : bytes) strata_.push_back(strata_.back() + of_stratum);
  if (strata_.back() == file_.section_bytes(SectionKind::kRankedLists)) return {};
  return InputError("{}: damaged: its ranked lists have {} bytes instead of {}", file_.path(),
                    file_.section_bytes(SectionKind::kRankedLists), strata_.back());
}

DegreeSums RankedFile::SumsOfLists(DealtOut wanted) const {
  DegreeSums sums;
  for (std::size_t rank = wanted.home; rank < lengths_.size(); rank += wanted.homes) {
    sums.Add(SumsOf(lengths_[rank].all, lengths_[rank].above));
  }
  return sums;
}

// To the first list of a later stratum if this one has no further. A small graph has empty strata.
void RankedFile::Advance(Cursor& cursor) const {
  std::size_t rank = std::size_t{cursor.rank} + kStrata;
  while (rank >= lengths_.size() && ++cursor.stratum < kStrata) {
    rank = StratumOf(cursor.stratum);  // it is its own inverse
  }
  cursor.rank = static_cast<VertexId>(rank);
}

std::vector<RankedFile::Window> RankedFile::Windows(DealtOut wanted) const {
  std::vector<Window> windows;
  // If the number of homes divides that of strata, whole strata are wanted or not.
  const bool by_strata = kStrata % wanted.homes == 0;
  bool goes_on = false;
  for (VertexId stratum = 0; stratum < kStrata; ++stratum) {
    const VertexId remainder = StratumOf(stratum);
    if (remainder >= lengths_.size()) continue;
    const bool is_wanted = !by_strata || wanted.Has(remainder);
    std::uint64_t at = strata_[stratum];
    if (is_wanted && !goes_on) {
      windows.push_back({.first = {stratum, remainder}, .begin = at, .end = at});
    }
    goes_on = is_wanted;
    if (!is_wanted) continue;
    for (std::size_t rank = remainder; rank < lengths_.size(); rank += kStrata) {
      const std::uint64_t end = at + code_.Bytes(lengths_[rank].all);
      // No list but a long one crosses a multiple of the windows' size, so that few blocks of the
      // file are in two windows.
      if (windows.back().end > windows.back().begin && end > at &&
          (end - 1) / kWindowBytes != windows.back().begin / kWindowBytes) {
        windows.push_back(
            {.first = {stratum, static_cast<VertexId>(rank)}, .begin = at, .end = at});
      }
      ++windows.back().lists;
      windows.back().end = at = end;
    }
  }
  return windows;
}

Status RankedFile::Decode(VertexId rank, const std::byte* coded,
                          std::vector<VertexId>& list) const {
  const auto [all, above] = lengths_[rank];
  list.resize(all);
  bool right = code_.Decode(coded, list) && list.back() < lengths_.size();
  for (std::size_t i = 1; i < all; ++i) right &= list[i] > list[i - 1];
  const std::size_t below = all - above;
  right = right && (below == 0 || list[below - 1] < rank) && (above == 0 || list[below] > rank);
  if (right) return {};
  return InputError("{}: damaged: the list of rank {} is wrong", file_.path(), rank);
}

Status RankedFile::VisitWindow(const Window& window, DealtOut wanted, const Visit& visit) const {
  std::vector<std::byte> coded(window.end - window.begin + ListCode::kSlackBytes);
  SLIM_TRY(file_.Read(SectionKind::kRankedLists, window.begin,
                      MutableBytes(coded).first(window.end - window.begin), 1));
  std::vector<VertexId> list;
  const std::byte* at = coded.data();
  Cursor cursor = window.first;
  for (VertexId i = 0; i < window.lists; ++i, Advance(cursor)) {
    const auto [all, above] = lengths_[cursor.rank];
    const std::size_t bytes = code_.Bytes(all);
    if (all > 0 && wanted.Has(cursor.rank)) {
      SLIM_TRY(Decode(cursor.rank, at, list));
      const List kept = part_ == ListPart::kUpper ? List(list).last(above) : List(list);
      visit(cursor.rank, {at, bytes}, kept);
    }
    at += bytes;
  }
  return {};
}

Status RankedFile::VisitLists(DealtOut wanted, std::size_t threads, const Visit& visit) const {
  const std::vector<Window> windows = Windows(wanted);
  return ParallelFor(windows.size(), threads,
                     [&](std::size_t i) { return VisitWindow(windows[i], wanted, visit); });
}

}  // namespace slimgraph::dkudu
