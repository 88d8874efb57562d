// A file descriptor that its owner's destructor closes.
#pragma once

#include <unistd.h>

#include <utility>

namespace slimgraph {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    if (fd_ >= 0) Close(fd_);
    fd_ = fd;
  }

 private:
#ifdef SLIMGRAPH_SIM
  static void Close(int fd);  // in sim/sockets.cc
#else
  static void Close(int fd) { ::close(fd); }
#endif

  int fd_ = -1;
};

}  // namespace slimgraph
