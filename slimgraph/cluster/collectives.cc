#include "slimgraph/cluster/collectives.h"

#include <algorithm>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/waits.h"

namespace slimgraph {
namespace {

struct Header {
  std::uint32_t group;
  std::uint32_t sequence;
  std::uint32_t round;
  std::uint32_t last;  // whether this is the mail's last piece
};

constexpr std::size_t kMaxPieceBytes = kMaxMessageBytes - sizeof(Header);

// A member sends the blocks that it knows: its own and those of the members after it, concatenated.
std::vector<std::byte> Pack(std::span<const std::vector<std::byte>> blocks) {
  std::vector<std::byte> packed;
  for (const auto& block : blocks) {
    const std::uint64_t bytes = block.size();
    const auto* const size = reinterpret_cast<const std::byte*>(&bytes);
    packed.insert(packed.end(), size, size + sizeof bytes);
    packed.insert(packed.end(), block.begin(), block.end());
  }
  return packed;
}

void UnpackOnto(Bytes packed, std::vector<std::vector<std::byte>>& blocks) {
  while (!packed.empty()) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, packed.data(), sizeof bytes);
    packed = packed.subspan(sizeof bytes);
    blocks.emplace_back(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(bytes));
    packed = packed.subspan(bytes);
  }
}

}  // namespace

CollectiveMailbox::CollectiveMailbox(Fabric& fabric) {
  handler_ = fabric.SetHandler(kHandler, [this](Endpoint&, const Message& message) {
    Header header;
    std::memcpy(&header, message.body.data(), sizeof header);
    Mail& mail = mails_[{header.group, header.sequence, header.round, message.from.node}];
    const Bytes piece = message.body.subspan(sizeof header);
    mail.bytes.insert(mail.bytes.end(), piece.begin(), piece.end());
    mail.complete = header.last != 0;
  });
}

Collectives::Collectives(Job& job, Fabric& fabric, CollectiveMailbox& mailbox, std::uint32_t group,
                         std::vector<NodeId> members)
    : job_(job),
      endpoint_(fabric.endpoint(0)),
      mailbox_(mailbox),
      group_(group),
      members_(std::move(members)) {
  const auto self = std::find(members_.begin(), members_.end(), fabric.self());
  SLIM_CHECK(self != members_.end(), "node {} is not a member of group {}", fabric.self(), group);
  rank_ = static_cast<std::size_t>(self - members_.begin());
}

Status Collectives::Barrier() {
  SLIM_TRY(AllGather({}));
  return {};
}

Result<std::vector<std::vector<std::byte>>> Collectives::AllGather(Bytes mine) {
  const std::size_t n = members_.size();
  // The blocks of members rank, rank+1, … around the ring.
  std::vector<std::vector<std::byte>> known;
  known.emplace_back(mine.begin(), mine.end());
  std::uint32_t round = 0;
  for (std::size_t distance = 1; distance < n; distance *= 2, ++round) {
    const std::size_t count = std::min(distance, n - distance);
    SendMail((rank_ + n - distance) % n, round, Pack(std::span(known).first(count)));
    SLIM_ASSIGN(const auto theirs, AwaitMail((rank_ + distance) % n, round));
    UnpackOnto(theirs, known);
  }
  AwaitSent();
  std::rotate(known.begin(), known.begin() + static_cast<std::ptrdiff_t>((n - rank_) % n),
              known.end());
  return known;
}

Result<std::vector<std::vector<std::byte>>> Collectives::AllToAll(
    std::vector<std::vector<std::byte>> to_each) {
  const std::size_t n = members_.size();
  SLIM_CHECK(to_each.size() == n, "{} blocks for {} members", to_each.size(), n);
  // Each round has another receiver for each sender, so no member gets all messages at once.
  for (std::size_t distance = 1; distance < n; ++distance) {
    std::vector<std::byte>& block = to_each[(rank_ + distance) % n];
    SendMail((rank_ + distance) % n, static_cast<std::uint32_t>(distance), block);
    block = {};
  }
  std::vector<std::vector<std::byte>> from_each(n);
  from_each[rank_] = std::move(to_each[rank_]);
  for (std::size_t distance = 1; distance < n; ++distance) {
    const std::size_t from = (rank_ + n - distance) % n;
    SLIM_ASSIGN(from_each[from], AwaitMail(from, static_cast<std::uint32_t>(distance)));
  }
  AwaitSent();
  return from_each;
}

Result<std::vector<std::byte>> Collectives::Broadcast(std::size_t root, Bytes mine) {
  SLIM_ASSIGN(auto all, AllGather(rank_ == root ? mine : Bytes()));
  return std::move(all[root]);
}

void Collectives::AwaitSent() {
  ++sequence_;
  WaitAndLog(
      job_.self(),
      [&](auto limit) { return endpoint_.WaitUntil([&] { return endpoint_.all_sent(); }, limit); },
      [&] {
        return fmt::format("room for messages at {}", NodesInWords(endpoint_.AwaitedNodes()));
      });
}

void Collectives::SendMail(std::size_t to, std::uint32_t round,
                           const std::vector<std::byte>& bytes) {
  std::vector<std::byte> body;
  std::size_t sent = 0;
  do {
    const std::size_t piece = std::min(bytes.size() - sent, kMaxPieceBytes);
    const Header header{group_, sequence_, round, sent + piece == bytes.size() ? 1U : 0U};
    body.resize(sizeof header + piece);
    std::memcpy(body.data(), &header, sizeof header);
    if (piece > 0) std::memcpy(body.data() + sizeof header, bytes.data() + sent, piece);
    endpoint_.Send({members_[to], 0}, CollectiveMailbox::kHandler, body);
    sent += piece;
  } while (sent < bytes.size());
}

Result<std::vector<std::byte>> Collectives::AwaitMail(std::size_t from, std::uint32_t round) {
  const CollectiveMailbox::Key key{group_, sequence_, round, members_[from]};
  Mail* mail = nullptr;
  const auto here = [&] {
    const auto found = mailbox_.mails_.find(key);
    mail = found == mailbox_.mails_.end() ? nullptr : &found->second;
    return mail != nullptr && mail->complete;
  };
  // The death of any member prevents some message of the round, so this checks all members, not
  // only `from`. In a part, every node counts: `from` may have left the part because another died.
  const auto lost = [&] {
    if (job_.all_alive()) return false;
    return job_.is_part() || std::any_of(members_.begin(), members_.end(),
                                         [&](NodeId member) { return !job_.alive(member); });
  };
  WaitAndLog(
      job_.self(),
      [&](auto limit) { return endpoint_.WaitUntil([&] { return here() || lost(); }, limit); },
      [&] {
        return fmt::format("node {} to take part in a collective (number {} of group {}, round {})",
                           members_[from], sequence_, group_, round);
      });
  if (!here()) {
    const std::string loss = job_.loss();
    return EnvironmentError("a node was lost: {}",
                            loss.empty() ? "it died before this collective was complete" : loss);
  }
  std::vector<std::byte> bytes = std::move(mail->bytes);
  mailbox_.mails_.erase(key);
  return bytes;
}

}  // namespace slimgraph
