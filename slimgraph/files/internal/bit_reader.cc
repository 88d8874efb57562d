#include "slimgraph/files/internal/bit_reader.h"

namespace slimgraph::internal {

Status BitReader::status() const {
  if (!failed_) return failed_;
  if (ok_) return {};
  if (ended_)
    return InputError("{}: truncated: it ends at bit {}, within a list", source_.name(), bit_);
  return InputError("{}: damaged: no valid code of a number ends at bit {}", source_.name(), bit_);
}

bool BitReader::FillBuffer() {
  const auto got = source_.Read(bytes_);
  if (!got) failed_ = tl::unexpected<Error>(got.error());
  at_ = 0;
  end_ = got ? *got : 0;
  ended_ |= end_ == 0;
  return end_ > 0;
}

bool BitReader::Refill(unsigned count) {
  if (end_ - at_ >= 8) {  // takes as many whole bytes as fit into window_
    std::uint64_t next;
    std::memcpy(&next, bytes_.data() + at_, sizeof next);
    next = __builtin_bswap64(next);
    const unsigned room = (64 - have_) / 8;
    if (room == 0) return true;
    const unsigned bits = room * 8;
    window_ |= (bits == 64 ? next : next >> (64 - bits) << (64 - bits)) >> have_;
    have_ += bits;
    at_ += room;
    return true;
  }
  while (have_ < count) {
    if (at_ == end_ && !FillBuffer()) {
      ok_ = false;
      return false;
    }
    window_ |= std::uint64_t{std::to_integer<std::uint8_t>(bytes_[at_++])} << (56 - have_);
    have_ += 8;
  }
  return true;
}

}  // namespace slimgraph::internal
