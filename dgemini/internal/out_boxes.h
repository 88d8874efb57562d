// A send buffer for each other compute node, which collects data into messages of the maximum size.
// Only the thread that uses the Exchange uses it. A buffer grows with its messages: with hundreds
// of nodes most messages are short, and there are many buffers.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "dgemini/exchange.h"

namespace slimgraph::dgemini {

class OutBoxes {
 public:
  class Box {
   public:
    bool empty() const { return filled_ == 0; }
    // Makes room for so many bytes, also at the beginning of a message. Call it before Put. Returns
    // false if the message would become too long.
    bool MakeRoom(std::size_t bytes) {
      const std::size_t wanted = filled_ + kHeadBytes + bytes;
      return wanted <= bytes_.size() || (filled_ + bytes <= Exchange::kMaxBytes && Grow(wanted));
    }
    // Begins a message. Call it before the first Put of a message.
    void Open() {
      if (bytes_.empty()) Grow(kLeastBytes);
      filled_ = sizeof(Exchange::Header);
    }
    template <typename T>
    void Put(const T& value) {
      std::memcpy(bytes_.data() + filled_, &value, sizeof value);
      filled_ += sizeof value;
    }
    void PutBytes(Bytes bytes) {
      std::memcpy(bytes_.data() + filled_, bytes.data(), bytes.size());
      filled_ += bytes.size();
    }

   private:
    friend class OutBoxes;
    static constexpr std::size_t kHeadBytes = sizeof(Exchange::Header) + sizeof(std::uint64_t);
    static constexpr std::size_t kLeastBytes = 256;
    bool Grow(std::size_t wanted) {
      bytes_.resize(
          std::min(Exchange::kMaxBytes, std::max({wanted, 2 * bytes_.size(), kLeastBytes})));
      return true;
    }

    std::vector<std::byte> bytes_;
    std::size_t filled_ = 0;
  };

  explicit OutBoxes(Exchange& exchange) : exchange_(exchange), boxes_(exchange.nodes()) {}

  Box& box(NodeId to) { return boxes_[to]; }

  // Sends the box's message. Does nothing if the box is empty.
  Status Send(NodeId to) {
    const MutableBytes message = TakeFrom(boxes_[to]);
    return message.empty() ? Status() : exchange_.Send(to, message);
  }
  // The same for the last message to that node in an exchange that ends without values.
  Status SendLast(NodeId to) {
    const MutableBytes message = TakeFrom(boxes_[to]);
    return message.empty() ? Status() : exchange_.SendLast(to, message);
  }
  Status SendAll() {
    for (NodeId i = 0; i < exchange_.peers(); ++i) SLIM_TRY(Send(exchange_.peer(i)));
    return {};
  }
  Status SendAllLast() {
    for (NodeId i = 0; i < exchange_.peers(); ++i) SLIM_TRY(SendLast(exchange_.peer(i)));
    return {};
  }

 private:
  static MutableBytes TakeFrom(Box& box) {
    const std::size_t bytes = std::exchange(box.filled_, 0);
    return std::span(box.bytes_).first(bytes <= sizeof(Exchange::Header) ? 0 : bytes);
  }

  Exchange& exchange_;
  std::vector<Box> boxes_;  // by node
};

// Reads a value at position `at` of a message, and moves `at` past it.
template <typename T>
T Take(Bytes bytes, std::size_t& at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace slimgraph::dgemini
