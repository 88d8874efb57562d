// A progress line on a terminal for work that takes longer than two seconds: how much is done, the
// rate, and the time left. In a pipe nothing is printed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace slimgraph {

class Progress {
 public:
  // Writes to standard error, if that is a terminal and `shown` is true.
  explicit Progress(std::string what, bool shown = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // May be called from any thread, and as often as convenient.
  void Update(std::uint64_t done, std::uint64_t total);

  // Shows another text at once, for work with few, long steps.
  void Show(const std::string& line);

  // The text of the progress line.
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
