#include "dkudu/internal/kernel/offered_roots.h"

#include <cstring>

namespace slimgraph::dkudu {
namespace {

constexpr std::size_t kOfWord = sizeof(std::uint64_t) / sizeof(VertexId);

}  // namespace

// The format, for each root: the number of its remaining neighbours, then these. A zero fills up
// the last word.
std::size_t PackRoots(std::span<const CliqueRoot> roots, std::uint64_t most_bytes,
                      std::vector<std::uint64_t>& words) {
  std::vector<VertexId> entries;
  std::size_t packed = 0;
  for (; packed < roots.size(); ++packed) {
    const List rest = roots[packed].list.subspan(roots[packed].joined);
    if (rest.size() < 2) continue;  // no triangle is left
    if ((entries.size() + 1 + rest.size() + kOfWord) * sizeof(VertexId) > most_bytes) break;
    entries.push_back(static_cast<VertexId>(rest.size()));
    entries.insert(entries.end(), rest.begin(), rest.end());
  }
  words.assign((entries.size() + kOfWord - 1) / kOfWord, 0);
  if (!entries.empty())
    std::memcpy(words.data(), entries.data(), entries.size() * sizeof(VertexId));
  return packed;
}

Status OfferedRoots::Count(std::span<const std::uint64_t> words, CliqueKernel& kernel) {
  entries_.resize(words.size() * kOfWord);
  if (!words.empty()) std::memcpy(entries_.data(), words.data(), words.size_bytes());
  for (std::size_t at = 0; at < entries_.size() && entries_[at] > 0;) {
    const List list = List(entries_).subspan(at + 1, entries_[at]);
    at += 1 + list.size();
    std::size_t first = 0;
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {  // no neighbour is above the last one
      if (!neighbours_.HasRoomFor(list[i])) {
        if (i > first) pieces_.push_back({list, first, i});
        SLIM_TRY(FetchAndJoin(kernel));
        first = i;
      }
      neighbours_.Add(list[i]);
    }
    pieces_.push_back({list, first, list.size() - 1});
  }
  return FetchAndJoin(kernel);
}

Status OfferedRoots::FetchAndJoin(CliqueKernel& kernel) {
  SLIM_TRY(neighbours_.Fetch());
  std::size_t next = 0;
  const auto list_of = [&](VertexId v) { return graph_.upper(v, neighbours_.Get(next++)); };
  const auto keep = [](std::size_t, const BitMatrix&) { return false; };
  for (const Piece& piece : pieces_) {
    CliqueRoot root{piece.list, static_cast<std::uint32_t>(piece.first)};
    kernel.Join(root, piece.list[piece.last - 1] + 1, list_of, keep);
  }
  pieces_.clear();
  neighbours_.Clear();
  return {};
}

}  // namespace slimgraph::dkudu
