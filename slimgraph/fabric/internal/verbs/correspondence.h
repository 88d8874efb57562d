// The messages between two endpoints, both ways, over datagrams that may get lost: cut into
// numbered pieces, each kept until the other side has told that it has come, and sent again when it
// has not. The word of what has come rides on what goes the other way; alone it goes seldom.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "slimgraph/fabric/faults.h"
#include "slimgraph/fabric/internal/verbs/datagrams.h"
#include "slimgraph/fabric/message.h"

namespace slimgraph {

// What every datagram begins with. The pieces of a message carry together a wire::MessageFrame, the
// arrival time if it says that there is one, and the body; a message begins with a piece of its
// own.
struct VerbsPiece {
  enum Kind : std::uint16_t {
    kPart,   // of a message
    kWord,   // nothing but `arrived`
    kAgain,  // the same, and those behind that are to be sent again
  };
  std::uint32_t number = 0;   // of a part, counted over all messages to the receiver
  std::uint32_t arrived = 0;  // how many parts from the receiver have come in order
  std::uint16_t node = 0;     // the sender's
  std::uint16_t endpoint = 0;
  Kind kind = kPart;
  std::uint16_t unused = 0;
};
static_assert(sizeof(VerbsPiece) == 16);

class VerbsCorrespondence {
 public:
  // What those of an endpoint share.
  struct Shared {
    const VerbsDevice& device;
    VerbsDatagrams& datagrams;
    EndpointAddress self;
    Faults* faults;
    std::vector<VerbsCorrespondence*> active{};  // those that Progress() has something to do for
  };
  VerbsCorrespondence(Shared& shared, EndpointAddress peer, const VerbsMailAddress& address);
  VerbsCorrespondence(const VerbsCorrespondence&) = delete;

  // False when there is no room now.
  bool Send(const Message& message);

  // A datagram of the peer's has come.
  void Take(Bytes datagram, const std::function<void(const Message&)>& receive);

  // Does what is due at `now_ns`. When it wants to be called again; 0: not before something
  // happens.
  std::uint64_t Progress(std::uint64_t now_ns);
  bool all_arrived() const { return arrived_of_mine_ == number_; }
  std::uint32_t peer_queue_pair() const { return address_.queue_pair; }

  // The peer is dead: all that is under way vanishes, and so does all that follows.
  void Lose();

 private:
  struct Piece {
    std::byte* place;
    std::uint32_t bytes;
    std::uint64_t released;  // the ring's position behind it
    std::uint64_t datagram;  // the last one that it went with; 0: none
  };

  void Begin();
  void Append(Bytes bytes);
  void PostPieces(std::uint64_t now_ns);
  void PostWord(VerbsPiece::Kind kind);
  bool Post(Bytes bytes, std::uint32_t key, std::uint64_t& datagram);
  void Told();
  void TakeWord(const VerbsPiece& piece);
  void TakePart(Bytes part, const std::function<void(const Message&)>& receive);
  void Retire();
  void Activate();

  Shared& shared_;
  const EndpointAddress peer_;
  const VerbsMailAddress address_;
  VerbsRoute route_;
  bool lost_ = false;
  bool listed_ = false;

  // From here to there.
  std::unique_ptr<VerbsRing> ring_;
  std::deque<Piece> pieces_;           // begun with number number_ - pieces_.size()
  std::uint32_t number_ = 0;           // of the next piece
  std::uint32_t next_ = 0;             // the first that is not posted, or to be posted again
  std::uint32_t arrived_of_mine_ = 0;  // all before are known to be there
  std::uint64_t missed_ns_ = 0;        // when what is under way is to go again
  std::uint32_t window_ = 16;          // so many may be under way
  std::uint32_t misses_ = 0;           // in a row

  // From there to here.
  std::uint32_t arrived_ = 0;
  std::uint32_t told_ = 0;        // of `arrived_`
  std::uint32_t asked_ = ~0U;     // what was last asked for again
  std::uint64_t tell_ns_ = 0;     // when `arrived_` is to be told; 0: it has been
  std::vector<std::byte> begun_;  // of a message that has not come entirely
};

}  // namespace slimgraph
