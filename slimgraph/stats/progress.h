// A line on a terminal for work that takes longer than two seconds: what is done, how fast, and how
// long it will take. Nothing of the kind in a pipe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace slimgraph {

class Progress {
 public:
  // Writes to standard error, where that is a terminal and `shown`.
  explicit Progress(std::string what, bool shown = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // From any thread, as often as one likes.
  void Update(std::uint64_t done, std::uint64_t total);

  // Any other line, at once: for work whose steps are few and long.
  void Show(const std::string& line);

  // The line itself.
  static std::string Line(const std::string& what, std::uint64_t done, std::uint64_t total,
                          double seconds);

 private:
  const std::string what_;
  const bool on_terminal_;
  const std::uint64_t start_ns_;
  std::atomic<std::uint64_t> next_ns_;
  std::atomic<bool> drawn_{false};
};

}  // namespace slimgraph
