// Two-sided messages from one endpoint to another, cut into pieces that fit the receiver's buffers.
// A piece is kept until the receiver's adapter has it; after an error all that are kept are sent
// again, and the receiver knows by their numbers which it has already.
#pragma once

#include <deque>

#include "slimgraph/fabric/internal/verbs_link.h"
#include "slimgraph/fabric/internal/verbs_ring.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

// What every piece begins with. Together they carry a wire::MessageFrame, the arrival time if it
// says that there is one, and the body; a message begins with a piece of its own.
struct VerbsPiece {
  std::uint32_t number = 0;  // counted over all messages to the receiver
  std::uint16_t node = 0;    // the sender's
  std::uint16_t endpoint = 0;
};
constexpr std::size_t kVerbsPieceBytes = 4096;

class VerbsMessageLink : public VerbsLink {
 public:
  VerbsMessageLink(Shared& shared, const VerbsContact& contact, const TcpHello& hello);

  // False when there is no room now.
  bool Send(const Message& message);

  bool all_arrived() const { return pieces_.empty(); }

 private:
  struct Piece {
    std::byte* place;
    std::uint32_t bytes;
    std::uint64_t released;  // the ring's position behind it
  };

  void Append(Bytes bytes);
  Piece& Begin();

  void OnDone(std::size_t count) override;
  void OnConnected(const VerbsReply& /*reply*/) override {}
  void OnRoom() override;
  void OnBroken(Outcome outcome) override;
  void OnHopeless(Outcome outcome) override;

  const NodeId node_;
  const std::uint16_t endpoint_;
  const std::uint16_t to_endpoint_;
  std::unique_ptr<VerbsRing> ring_;
  std::deque<Piece> pieces_;
  std::size_t next_ = 0;  // of pieces_: the first that is not posted
  std::uint32_t number_ = 0;
};

}  // namespace slimgraph
