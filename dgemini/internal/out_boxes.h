// A send buffer for each other compute node, which collects data into messages of the maximum size.
// Only the thread that uses the Exchange uses it.
#pragma once

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
    bool HasRoom(std::size_t bytes) const { return filled_ + bytes <= Exchange::kMaxBytes; }
    // Begins a message. Call it before the first Put of a message.
    void Open() { filled_ = sizeof(Exchange::Header); }
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
    std::vector<std::byte> bytes_ = std::vector<std::byte>(Exchange::kMaxBytes);
    std::size_t filled_ = 0;
  };

  explicit OutBoxes(Exchange& exchange) : exchange_(exchange), boxes_(exchange.nodes()) {}

  Box& box(NodeId to) { return boxes_[to]; }

  // Sends the box's message. Does nothing if the box is empty.
  Status Send(NodeId to) {
    Box& box = boxes_[to];
    const std::size_t bytes = std::exchange(box.filled_, 0);
    if (bytes <= sizeof(Exchange::Header)) return {};
    return exchange_.Send(to, std::span(box.bytes_).first(bytes));
  }
  Status SendAll() {
    for (NodeId i = 0; i < exchange_.peers(); ++i) SLIM_TRY(Send(exchange_.peer(i)));
    return {};
  }

 private:
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
