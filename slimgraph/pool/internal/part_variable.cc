#include "slimgraph/pool/internal/part_variable.h"

#include <fcntl.h>

#include <charconv>
#include <cstdlib>

#include "slimgraph/base/confine.h"
#include "slimgraph/base/split.h"
#include "slimgraph/pool/attach.h"

namespace slimgraph {

namespace internal {

std::string PartText(const std::string& graph, const std::vector<UniqueFd>& memories,
                     const std::string& facts) {
  std::string text = graph;
  for (const UniqueFd& memory : memories) text += fmt::format(" {}", memory.get());
  return text + "\n" + facts;
}

}  // namespace internal

Status ConfineDeputy() {
  const char* const set = std::getenv(internal::kConfinedVariable);
  if (set == nullptr) return {};
  const std::string file = set;
  ::unsetenv(internal::kConfinedVariable);
  return Confine(file);
}

Result<std::optional<StandingHere>> TakeStandingPart() {
  const char* const set = std::getenv(internal::kPartVariable);
  if (set == nullptr) return std::nullopt;
  const std::string text = set;
  ::unsetenv(internal::kPartVariable);
  const std::size_t line_end = text.find('\n');
  const auto words = Split(std::string_view(text).substr(0, line_end), ' ');
  if (words.empty() || line_end == std::string::npos) {
    return UsageError("{} names no graph: it is set by a pool, not by hand",
                      internal::kPartVariable);
  }
  StandingHere here{
      .graph = std::string(words[0]), .facts = text.substr(line_end + 1), .memories = {}};
  std::vector<UniqueFd> files;
  for (std::size_t i = 1; i < words.size(); ++i) {
    int fd = -1;
    std::from_chars(words[i].data(), words[i].data() + words[i].size(), fd);
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
      return UsageError("{} names a file that is not open: it is set by a pool, not by hand",
                        internal::kPartVariable);
    }
    files.emplace_back(fd);
  }
  for (UniqueFd& file : files) {
    SLIM_ASSIGN(here.memories.emplace_back(), SharedMemory::Adopt(std::move(file)));
  }
  return here;
}

}  // namespace slimgraph
