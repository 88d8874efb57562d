// The messages between two endpoints, in both directions, over unreliable datagrams. Each message
// arrives once, in order. Messages are cut into numbered pieces. Each piece is kept until the other
// side has acknowledged it, and is sent again after a loss. Acknowledgements are piggybacked on
// pieces of the other direction; few are sent alone.
//
// A link reads no clock: every call says what time it is.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "slimgraph/fabric/internal/datagrams/datagram_port.h"

namespace slimgraph {

// The header of every datagram. The pieces of a message together carry a wire::MessageFrame, the
// arrival time if the frame says so, and the body. Each message begins with a new piece.
struct LinkPiece {
  enum Kind : std::uint16_t {
    kPiece,            // a piece of a message
    kAcknowledgement,  // only an acknowledgement
    kResend,           // an acknowledgement, and a request to resend the pieces after it
  };
  std::uint32_t number = 0;   // of a piece, counted over all messages to the receiver
  std::uint32_t arrived = 0;  // acknowledgement: how many pieces from the receiver arrived in order
  std::uint16_t node = 0;     // the sender's
  std::uint16_t endpoint = 0;
  Kind kind = kPiece;
  std::uint16_t heard = 0;  // how many datagrams from the receiver arrived, whatever became of them
};
static_assert(sizeof(LinkPiece) == 16);

class ReliableLink {
 public:
  // What all objects of an endpoint share.
  struct Shared {
    DatagramPort& datagrams;
    EndpointAddress self;
    std::vector<ReliableLink*> active{};  // those for which Progress() has work
  };
  ReliableLink(Shared& shared, EndpointAddress peer);
  ReliableLink(const ReliableLink&) = delete;
  EndpointAddress peer() const { return peer_; }

  // Returns false when there is no room now.
  bool Send(const Message& message, std::uint64_t now_ns);

  // Handles a datagram from the peer, which is no shorter than a LinkPiece. If `receive` is empty,
  // its message is lost, but the peer learns that it is heard.
  void Take(Bytes datagram, std::uint64_t now_ns,
            const std::function<void(const Message&)>& receive);

  // Does what is due at `now_ns`. Returns when it must be called again; 0: only after another
  // event.
  std::uint64_t Progress(std::uint64_t now_ns);
  bool all_acknowledged() const { return acknowledged_by_peer_ == number_; }

  // Whether the peer has not answered for some 10 s, though pieces were sent again all the time.
  bool unanswered() const { return timeouts_unanswered_ >= kMostUnanswered; }

  // The peer is dead: drops unsent messages and all later ones.
  void Lose();

 private:
  // The number of the first piece. The numbers wrap soon, so every run shows that they may.
  static constexpr std::uint32_t kFirst = ~0U - 50;
  // Timeouts are counted, not time: a process that was stopped must not blame its peers.
  static constexpr std::uint32_t kMostUnanswered = 32;

  struct Piece {
    std::byte* place;
    std::uint32_t bytes;
    std::uint64_t released;  // the ring's position after the piece
    std::uint64_t datagram;  // the last datagram that carried it; 0: none
  };

  void Begin();
  void Append(Bytes bytes);
  void PostPieces(std::uint64_t now_ns);
  void PostAcknowledgement(LinkPiece::Kind kind);
  void OnAcknowledgementPosted();
  void TakeAcknowledgement(const LinkPiece& piece, std::uint64_t now_ns);
  void TakePiece(Bytes part, const std::function<void(const Message&)>& receive);
  void FreeAcknowledgedPieces();
  void AcknowledgeSoon(std::uint64_t now_ns);
  void Activate();

  Shared& shared_;
  const EndpointAddress peer_;
  bool lost_ = false;
  bool listed_ = false;

  // --- the outgoing direction
  std::uint32_t datagram_bytes_;  // the largest datagram
  std::unique_ptr<SendRing> ring_;
  std::deque<Piece> pieces_;       // the first one has number number_ - pieces_.size()
  std::uint32_t number_ = kFirst;  // of the next new piece
  std::uint32_t next_ = kFirst;    // the next piece to post, also after a loss
  // The peer has acknowledged all pieces before this one.
  std::uint32_t acknowledged_by_peer_ = kFirst;
  std::uint64_t resend_at_ns_ = 0;  // when unacknowledged pieces are sent again
  std::uint32_t window_ = 16;       // how many pieces may be unacknowledged
  std::uint32_t timeouts_ = 0;      // timeouts in a row
  std::uint32_t timeouts_unanswered_ = 0;
  std::uint16_t heard_by_peer_ = 0;  // the last value that the peer has sent

  // --- the incoming direction
  std::uint16_t heard_ = 0;
  std::uint32_t arrived_ = kFirst;
  std::uint32_t acknowledged_ = kFirst;          // the value of arrived_ that was last acknowledged
  std::uint32_t resend_requested_ = kFirst - 1;  // the piece for which a resend was last requested
  std::uint64_t acknowledge_at_ns_ = 0;          // when to acknowledge arrived_; 0: done already
  std::vector<std::byte> incomplete_;            // the first pieces of an incomplete message
};

}  // namespace slimgraph
