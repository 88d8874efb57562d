#include "dkudu/internal/graph/lists_to_homes.h"

#include <bit>
#include <cstring>
#include <utility>

#include "slimgraph/base/parallel.h"

namespace slimgraph::dkudu {

ListsToHomes::ListsToHomes(Collectives& nodes, std::size_t pieces, const ListCode& code)
    : nodes_(nodes),
      code_(code),
      added_(pieces, std::vector<std::vector<std::byte>>(nodes.size())) {}

std::uint64_t ListsToHomes::Bytes(VertexId vertices, std::uint64_t arcs) {
  // What a node sends is here up to twice: as it was added, and as it was joined or is not sent
  // yet. What arrives is here as well.
  constexpr std::uint64_t kCopies = 3;
  constexpr std::uint64_t kArcsOfList = 8;  // lists are rarely shorter, on average
  const auto bits = static_cast<std::uint64_t>(std::bit_width(vertices) + 2);  // of an arc, at most
  return kCopies * (arcs * bits / 8 + arcs / kArcsOfList * sizeof(VertexId));
}

void ListsToHomes::Add(std::size_t piece, NodeId home, VertexId number, List list) {
  std::vector<std::byte>& message = added_[piece][home];
  const std::size_t at = message.size();
  message.resize(at + sizeof number + code_.Bytes(list.size()));
  std::memcpy(message.data() + at, &number, sizeof number);
  code_.Encode(list, message.data() + at + sizeof number);
}

Result<bool> ListsToHomes::Exchange(bool more, std::size_t threads, const Place& place) {
  std::vector<std::vector<std::byte>> to_each(nodes_.size());
  for (std::size_t home = 0; home < to_each.size(); ++home) {
    std::vector<std::byte>& message = to_each[home];
    message.push_back(static_cast<std::byte>(more));
    for (auto& of_piece : added_) {
      message.insert(message.end(), of_piece[home].begin(), of_piece[home].end());
      of_piece[home].clear();
    }
    message.resize(message.size() + ListCode::kSlackBytes);
  }
  SLIM_ASSIGN(const auto from_each, nodes_.AllToAll(std::move(to_each)));
  bool any_has_more = false;
  for (const auto& message : from_each) any_has_more |= message.front() != std::byte{0};
  SLIM_TRY(ParallelFor(from_each.size(), threads, [&](std::size_t from) -> Status {
    const std::vector<std::byte>& message = from_each[from];
    for (std::size_t at = 1; at < message.size() - ListCode::kSlackBytes;) {
      VertexId number = 0;
      std::memcpy(&number, message.data() + at, sizeof number);
      at += sizeof number;
      at += place(number, message.data() + at);
    }
    return {};
  }));
  return any_has_more;
}

}  // namespace slimgraph::dkudu
