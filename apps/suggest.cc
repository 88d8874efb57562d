#include "apps/suggest.h"

#include <algorithm>

namespace slimgraph {
namespace {

constexpr std::size_t kMostSuggestions = 3;
constexpr std::size_t kLeastPart = 3;  // letters of a word that is looked for inside others

// How many letters may differ.
std::size_t Slips(std::string_view word) { return word.size() <= kLeastPart ? 1 : 2; }

// The number of letters to add, remove, replace or swap with their neighbour (Damerau and
// Levenshtein) to turn one word into the other.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

// 0: not alike; more: more alike.
int Likeness(std::string_view word, const Command& command) {
  const std::string_view name = command.name;
  const std::string_view own = name.substr(name.find(' ') + 1);
  const std::size_t slips = Slips(word);
  const std::string_view group = name.substr(0, name.find(' '));
  std::size_t distance = slips + 1;
  for (const std::string_view one : {name, own, group}) {
    distance = std::min(distance, EditDistance(word, one));
  }
  if (distance <= slips) return distance <= 1 ? 4 : 3;
  if (word.size() < kLeastPart) return 0;
  const auto in = [word](std::string_view text) {
    return text.find(word) != std::string_view::npos;
  };
  if (in(name)) return 2;
  for (const std::string& alias : command.aliases) {
    const bool inside = word.find(alias) != std::string_view::npos;
    if (inside || in(alias) || EditDistance(word, alias) <= slips) return 2;
  }
  return in(command.summary) ? 1 : 0;
}

std::string DidYouMean(const std::vector<std::string_view>& names) {
  if (names.empty() || names.size() > kMostSuggestions) return "";
  std::string text = " (did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text + "?)";
}

}  // namespace

std::string SuggestCommands(std::string_view word, const std::vector<Command>& commands) {
  int most = 0;
  std::vector<std::string_view> names;
  for (const Command& command : commands) {
    const int likeness = Likeness(word, command);
    if (likeness == 0 || likeness < most) continue;
    if (likeness > most) names.clear();
    most = likeness;
    names.push_back(command.name);
  }
  return DidYouMean(names);
}

std::string SuggestOptions(std::string_view word, const std::vector<std::string>& options) {
  constexpr std::size_t kDashes = 2;
  const std::size_t slips = Slips(word.substr(std::min(kDashes, word.size())));
  std::size_t least = slips + 1;
  std::vector<std::string_view> names;
  for (const std::string_view option : options) {
    const bool begins = word.size() >= kDashes + kLeastPart && option.starts_with(word);
    const std::size_t distance = begins ? 0 : EditDistance(word, option);
    if (distance > slips || distance > least) continue;
    if (distance < least) names.clear();
    least = distance;
    names.push_back(option);
  }
  return DidYouMean(names);
}

}  // namespace slimgraph
