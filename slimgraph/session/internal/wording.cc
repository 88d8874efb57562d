#include "slimgraph/session/internal/wording.h"

#include <string_view>
#include <utility>

namespace slimgraph::internal {
namespace {

// What a message says of the command, and what it says of the library. Longer texts come first.
constexpr std::pair<std::string_view, std::string_view> kWordings[] = {
    {"say --directed or --undirected", "set ReadOptions.directed"},
    {"say --symmetrize to drop the directions",
     "to drop the directions, convert it with 'slimgraph convert' and its option symmetrize"},
    {"leave out --directed", "ReadOptions.directed must not be true"},
    {"say --from with", "set ReadOptions.format to"},
    {"say --weighted to keep them or --drop-weights to leave them out",
     "set ReadOptions.weighted to keep them"},
    {"--weighted is given", "ReadOptions.weighted is set"},
    {"leave out --weighted", "leave out ReadOptions.weighted"},
    {"; --nodes N takes more nodes", "; SessionOptions.nodes takes more nodes"},
    {" (--node-memory)", ""},
    {"--chunk-memory", "MatchOptions.chunk_bytes"},
    {"--edge-cache", "SessionOptions.cache.edges"},
    {"--transport", "SessionOptions.transport"},
    {"--host-of", "SessionOptions.cache.host_of"},
    {"--network", "SessionOptions.network"},
    {"--compute", "SessionOptions.compute"},
    {"--nodes", "SessionOptions.nodes"},
};

}  // namespace

Error NamingFields(Error error) {
  for (const auto& [option, field] : kWordings) {
    std::size_t at = 0;
    while ((at = error.message.find(option, at)) != std::string::npos) {
      error.message.replace(at, option.size(), field);
      at += field.size();
    }
  }
  return error;
}

}  // namespace slimgraph::internal
