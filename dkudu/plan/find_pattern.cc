// Patterns by name and from files.
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "dkudu/plan/pattern.h"
#include "slimgraph/base/split.h"

namespace slimgraph::dkudu {
namespace {

using Edges = std::vector<Pattern::Edge>;

struct Named {
  std::string_view name;
  Edges edges;
};

const std::vector<Named>& FixedPatterns() {
  static const std::vector<Named> patterns = {
      {"edge", {{0, 1}}},
      {"wedge", {{0, 1}, {1, 2}}},
      {"triangle", {{0, 1}, {0, 2}, {1, 2}}},
      {"tailed-triangle", {{0, 1}, {0, 2}, {1, 2}, {2, 3}}},
      {"diamond", {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}},
      {"house", {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}}},
      {"bull", {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 4}}},
      {"butterfly", {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {0, 4}, {3, 4}}},
  };
  return patterns;
}

void AddPath(Edges& edges, std::uint64_t vertices) {
  for (std::uint64_t v = 1; v < vertices; ++v) edges.emplace_back(v - 1, v);
}

// Patterns such as "5-clique". A k-star has k leaves; the other families have k vertices.
std::optional<Edges> FamilyMember(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash != 1 || name[0] < '2' || name[0] > '8') return std::nullopt;
  const auto k = static_cast<std::uint64_t>(name[0] - '0');
  const std::string_view family = name.substr(2);
  Edges edges;
  if (family == "path") {
    AddPath(edges, k);
  } else if (family == "cycle" && k >= 3) {
    AddPath(edges, k);
    edges.emplace_back(0, k - 1);
  } else if (family == "star") {
    for (std::uint64_t leaf = 1; leaf <= k; ++leaf) edges.emplace_back(0, leaf);
  } else if (family == "clique") {
    for (std::uint64_t v = 1; v < k; ++v) {
      for (std::uint64_t u = 0; u < v; ++u) edges.emplace_back(u, v);
    }
  } else {
    return std::nullopt;
  }
  return edges;
}

// Parses "a b"; returns nothing if the line is malformed.
std::optional<Pattern::Edge> ParseEdge(std::string_view line) {
  Pattern::Edge edge;
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto skip_blanks = [&] {
    while (at != end && (*at == ' ' || *at == '\t' || *at == ',' || *at == '\r')) ++at;
  };
  for (std::uint64_t* const number : {&edge.first, &edge.second}) {
    skip_blanks();
    const auto [next, failed] = std::from_chars(at, end, *number);
    if (failed != std::errc()) return std::nullopt;
    at = next;
  }
  skip_blanks();
  if (at != end) return std::nullopt;
  return edge;
}

// "0-1,1-2,2-0"
std::optional<Edges> SpelledEdges(std::string_view text) {
  if (text.find_first_not_of("0123456789-,") != std::string_view::npos) return std::nullopt;
  Edges edges;
  for (const std::string_view word : Split(text, ',')) {
    std::string line(word);
    const std::size_t dash = line.find('-');
    if (dash == 0 || dash == std::string::npos) return std::nullopt;
    line[dash] = ' ';
    const auto edge = ParseEdge(line);
    if (!edge) return std::nullopt;
    edges.push_back(*edge);
  }
  if (edges.empty()) return std::nullopt;
  return edges;
}

// Of a name that is known.
std::optional<Edges> NamedEdges(std::string_view name) {
  for (const Named& known : FixedPatterns()) {
    if (known.name == name) return known.edges;
  }
  return FamilyMember(name);
}

Result<Edges> ReadEdges(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return InputError("no pattern and no file is called '{}'; the names are {}", path,
                      PatternNames());
  }
  Edges edges;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#' || line[first] == '%') continue;
    const auto edge = ParseEdge(line);
    if (!edge) {
      return InputError(R"({}:{}: expected an edge "a b" of the pattern, found "{}")", path, number,
                        line.substr(0, 40));
    }
    edges.push_back(*edge);
  }
  if (file.bad()) return InputError("cannot read {}", path);
  return edges;
}

}  // namespace

Result<Pattern> Pattern::Clique(unsigned vertices) {
  return Find(fmt::format("{}-clique", vertices));
}

Result<Pattern> Pattern::Find(const std::string& name_or_file) {
  if (const auto edges = NamedEdges(name_or_file)) return Make(*edges, name_or_file);
  if (const auto edges = SpelledEdges(name_or_file)) return Make(*edges, name_or_file);
  SLIM_ASSIGN(const Edges edges, ReadEdges(name_or_file));
  return Make(edges, name_or_file);
}

std::string Pattern::Spelled() const {
  if (NamedEdges(name_)) return name_;
  std::string text;
  for (unsigned v = 0; v < size(); ++v) {
    for (unsigned u = 0; u < v; ++u) {
      if (!adjacent(u, v)) continue;
      text += fmt::format("{}{}-{}", text.empty() ? "" : ",", id(u), id(v));
    }
  }
  return text;
}

std::string PatternNames() {
  std::string names;
  for (const Named& known : FixedPatterns()) names += fmt::format("{}, ", known.name);
  return names + "K-path, K-cycle, K-star, K-clique";
}

}  // namespace slimgraph::dkudu
