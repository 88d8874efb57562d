// The messages between two endpoints, in both directions, over unreliable datagrams. Messages are
// cut into numbered pieces. Each piece is kept until the other side has acknowledged it, and is
// sent again after a loss. Acknowledgements are piggybacked on pieces of the other direction; few
// are sent alone.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "slimgraph/fabric/faults.h"
#include "slimgraph/fabric/internal/verbs/datagrams.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

// The header of every datagram. The pieces of a message together carry a wire::MessageFrame, the
// arrival time if the frame says so, and the body. Each message begins with a new piece.
struct VerbsPiece {
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
  std::uint16_t unused = 0;
};
static_assert(sizeof(VerbsPiece) == 16);

class VerbsMessageLink {
 public:
  // What all objects of an endpoint share.
  struct Shared {
    const VerbsDevice& device;
    VerbsDatagrams& datagrams;
    EndpointAddress self;
    Faults* faults;
    std::vector<VerbsMessageLink*> active{};  // those for which Progress() has work
  };
  VerbsMessageLink(Shared& shared, EndpointAddress peer, const VerbsMailAddress& address);
  VerbsMessageLink(const VerbsMessageLink&) = delete;

  // Returns false when there is no room now.
  bool Send(const Message& message);

  // Handles a datagram from the peer.
  void Take(Bytes datagram, const std::function<void(const Message&)>& receive);

  // Does what is due at `now_ns`. Returns when it must be called again; 0: only after another
  // event.
  std::uint64_t Progress(std::uint64_t now_ns);
  bool all_acknowledged() const { return acknowledged_by_peer_ == number_; }
  std::uint32_t peer_queue_pair() const { return address_.queue_pair; }

  // The peer is dead: drops unsent messages and all later ones.
  void Lose();

 private:
  struct Piece {
    std::byte* place;
    std::uint32_t bytes;
    std::uint64_t released;  // the ring's position after the piece
    std::uint64_t datagram;  // the last datagram that carried it; 0: none
  };

  void Begin();
  void Append(Bytes bytes);
  void PostPieces(std::uint64_t now_ns);
  void PostAcknowledgement(VerbsPiece::Kind kind);
  bool Post(Bytes bytes, std::uint32_t key, std::uint64_t& datagram);
  void OnAcknowledgementPosted();
  void TakeAcknowledgement(const VerbsPiece& piece);
  void TakePiece(Bytes part, const std::function<void(const Message&)>& receive);
  void FreeAcknowledgedPieces();
  void Activate();

  Shared& shared_;
  const EndpointAddress peer_;
  const VerbsMailAddress address_;
  VerbsRoute route_;
  bool lost_ = false;
  bool listed_ = false;

  // --- the outgoing direction
  std::unique_ptr<VerbsRing> ring_;
  std::deque<Piece> pieces_;                // the first one has number number_ - pieces_.size()
  std::uint32_t number_ = 0;                // of the next new piece
  std::uint32_t next_ = 0;                  // the next piece to post, also after a loss
  std::uint32_t acknowledged_by_peer_ = 0;  // the peer has acknowledged all pieces before this one
  std::uint64_t resend_at_ns_ = 0;          // when unacknowledged pieces are sent again
  std::uint32_t window_ = 16;               // how many pieces may be unacknowledged
  std::uint32_t timeouts_ = 0;              // timeouts in a row

  // --- the incoming direction
  std::uint32_t arrived_ = 0;
  std::uint32_t acknowledged_ = 0;        // the value of arrived_ that was last acknowledged
  std::uint32_t resend_requested_ = ~0U;  // the piece for which a resend was last requested
  std::uint64_t acknowledge_at_ns_ = 0;   // when to acknowledge arrived_; 0: done already
  std::vector<std::byte> incomplete_;     // the first pieces of an incomplete message
};

}  // namespace slimgraph
