#include "slimgraph/stats/progress.h"

#include <unistd.h>

#include <cstdio>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kSilentNs = 2'000'000'000;
constexpr std::uint64_t kEveryNs = 200'000'000;

}  // namespace

Progress::Progress(std::string what, bool shown)
    : what_(std::move(what)),
      on_terminal_(shown && ::isatty(STDERR_FILENO) == 1),
      start_ns_(NowNs()),
      next_ns_(start_ns_ + kSilentNs) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::Update(std::uint64_t done, std::uint64_t total) {
  if (!on_terminal_) return;
  const std::uint64_t now = NowNs();
  std::uint64_t next = next_ns_.load(std::memory_order_relaxed);
  // Only one of the threads that arrive after next_ns_ draws the line.
  if (now < next || !next_ns_.compare_exchange_strong(next, now + kEveryNs)) return;
  const double seconds = static_cast<double>(now - start_ns_) * 1e-9;
  std::fputs(("\r\033[K" + Line(what_, done, total, seconds)).c_str(), stderr);
  drawn_ = true;
}

void Progress::Show(const std::string& line) {
  if (!on_terminal_) return;
  std::fputs(("\r\033[K" + what_ + ": " + line).c_str(), stderr);
  drawn_ = true;
}

std::string Progress::Line(const std::string& what, std::uint64_t done, std::uint64_t total,
                           double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line = fmt::format("{}: {}", what, FormatCount(done));
  if (total > 0) {
    const double percent = 100.0 * static_cast<double>(done) / static_cast<double>(total);
    line += fmt::format(" of {} ({:.0f} %)", FormatCount(total), percent);
  }
  line += fmt::format(", {}/s", FormatCount(static_cast<std::uint64_t>(rate)));
  if (total > done && rate > 0) {
    line += fmt::format(", {:.0f} s left", static_cast<double>(total - done) / rate);
  }
  return line;
}

}  // namespace slimgraph
