#include "slimgraph/launch/internal/sealed_frames.h"

namespace slimgraph {

Result<SealedFrames> SealedFrames::Make(std::string_view secret, const Challenges& challenges,
                                        bool is_hub) {
  SLIM_ASSIGN(const auto key, HandshakeKey::Derive(secret, "frames of a job", challenges));
  return SealedFrames(key, is_hub);
}

SealedFrames::SealedFrames(const HandshakeKey& key, bool is_hub)
    : key_(key), next_sent_(is_hub ? 0 : 1), next_received_(is_hub ? 1 : 0) {}

Frame SealedFrames::Seal(const Frame& frame) {
  const std::uint64_t number = next_sent_;
  next_sent_ += 2;
  return {.type = FrameType::kSealed, .body = key_.Seal(number, EncodeFrame(frame))};
}

Result<Frame> SealedFrames::Open(const Frame& sealed) {
  std::optional<std::string> bytes;
  if (sealed.type == FrameType::kSealed) bytes = key_.Open(next_received_, sealed.body);
  if (!bytes) return EnvironmentError("it sent a message that is not authentic");
  next_received_ += 2;
  return DecodeFrame(*bytes);
}

}  // namespace slimgraph
