// The encryption of the frames between a node and the hub, in a job that encrypts, once both have
// proved that they know the secret.
#pragma once

#include "slimgraph/launch/frame.h"
#include "slimgraph/launch/handshake.h"

namespace slimgraph {

class SealedFrames {
 public:
  // `challenges`: of the connection.
  static Result<SealedFrames> Make(std::string_view secret, const Challenges& challenges,
                                   bool is_hub);

  Frame Seal(const Frame& frame);
  // An error if it is not the next frame of the other side.
  Result<Frame> Open(const Frame& sealed);

 private:
  SealedFrames(const HandshakeKey& key, bool is_hub);
  HandshakeKey key_;
  // The hub's frames have even numbers.
  std::uint64_t next_sent_;
  std::uint64_t next_received_;
};

}  // namespace slimgraph
