#include "slimgraph/launch/frame.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/check.h"
#include "slimgraph/base/sockets.h"

namespace slimgraph {
namespace {

struct Header {
  std::uint32_t bytes;
  FrameType type;
  std::uint8_t exit_code;
  std::uint16_t node;
  ExchangeId exchange;
};
static_assert(sizeof(Header) == 16);

}  // namespace

std::string EncodeFrame(const Frame& frame) {
  SLIM_CHECK(frame.body.size() <= kMaxFrameBytes, "{} bytes in one frame", frame.body.size());
  const Header header{static_cast<std::uint32_t>(frame.body.size()), frame.type, frame.exit_code,
                      frame.node, frame.exchange};
  std::string bytes(sizeof header + frame.body.size(), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, frame.body.data(), frame.body.size());
  return bytes;
}

bool SendFrame(int fd, const Frame& frame) {
  const std::string bytes = EncodeFrame(frame);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = SendBytes(fd, std::as_bytes(std::span(bytes)).subspan(sent));
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Result<Frame> DecodeFrame(std::string_view bytes) {
  FrameReader reader(kMaxFrameBytes);
  reader.Append(bytes);
  SLIM_ASSIGN(const auto frame, reader.Next());
  if (!frame) return EnvironmentError("what it sent is no frame of this job");
  return *frame;
}

bool FrameReader::Fill(int fd) {
  std::array<char, 16384> chunk;
  while (buffer_.size() - used_ < sizeof(Header) + max_bytes_) {
    const ssize_t n = ReceiveBytes(fd, std::as_writable_bytes(std::span(chunk)));
    if (n > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
  }
  return true;
}

Result<std::optional<Frame>> FrameReader::Next() {
  Header header;
  const std::size_t available = buffer_.size() - used_;
  if (available < sizeof header) return std::nullopt;
  std::memcpy(&header, buffer_.data() + used_, sizeof header);
  if (header.bytes > max_bytes_ || header.type > kLastFrameType) {
    return EnvironmentError("what it sent is no frame of this job");
  }
  if (available < sizeof header + header.bytes) return std::nullopt;
  Frame frame{header.type, header.exit_code, header.node, header.exchange,
              buffer_.substr(used_ + sizeof header, header.bytes)};
  used_ += sizeof header + header.bytes;
  if (used_ == buffer_.size()) {
    buffer_.clear();
    used_ = 0;
  }
  return frame;
}

Status CheckFrame(const Frame& frame, NodeId nodes) {
  const bool names_tag = frame.type == FrameType::kPartAborted;
  if (frame.node < nodes && (!names_tag || frame.exchange.tag < kNumBaseTags)) return {};
  return EnvironmentError("it sent a frame about node {} and tag {}, which do not exist",
                          frame.node, frame.exchange.tag);
}

std::string PackStrings(const std::vector<std::string>& strings) {
  std::string packed;
  for (const std::string& string : strings) {
    const auto bytes = static_cast<std::uint32_t>(string.size());
    packed.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    packed += string;
  }
  return packed;
}

Result<std::vector<std::string>> UnpackStrings(std::string_view packed) {
  std::vector<std::string> strings;
  while (!packed.empty()) {
    std::uint32_t bytes = 0;
    if (packed.size() < sizeof bytes) return EnvironmentError("a list of strings is cut off");
    std::memcpy(&bytes, packed.data(), sizeof bytes);
    packed.remove_prefix(sizeof bytes);
    if (packed.size() < bytes) return EnvironmentError("a list of strings is cut off");
    strings.emplace_back(packed.substr(0, bytes));
    packed.remove_prefix(bytes);
  }
  return strings;
}

}  // namespace slimgraph
