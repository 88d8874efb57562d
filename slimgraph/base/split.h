// Lists in options and variables: "a,b,c".
#pragma once

#include <string_view>
#include <vector>

namespace slimgraph {

// The parts between separators, as views into `text`. Empty text has no parts; a separator at the
// end is followed by an empty part.
inline std::vector<std::string_view> Split(std::string_view text, char separator = ',') {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace slimgraph
