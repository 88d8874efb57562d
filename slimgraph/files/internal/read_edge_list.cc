#include <algorithm>

#include "slimgraph/files/internal/edge_lines.h"
#include "slimgraph/files/internal/number.h"
#include "slimgraph/files/internal/parse_chunks.h"
#include "slimgraph/files/internal/readers.h"

namespace slimgraph::internal {
namespace {

// Whether the line names its columns: two of them or more, each beginning with a letter.
bool IsHeader(const Columns& columns) {
  if (columns.count < 2) return false;
  const std::size_t known = std::min(columns.count, Columns::kMaxColumns);
  return std::all_of(columns.column.begin(), columns.column.begin() + known, [](auto column) {
    const char c = column.front();
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::string_view WithoutLineEnd(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace

Result<bool> KeepWeights(bool has_weights, const ReadOptions& options, const std::string& name) {
  if (options.weights_if_any) return has_weights;
  if (has_weights && !options.weighted && !options.drop_weights) {
    return UsageError(
        "{}: its edges have weights: say --weighted to keep them or --drop-weights to leave them "
        "out",
        name);
  }
  if (!has_weights && options.weighted) {
    return InputError("{}: --weighted is given, but its edges have no weights", name);
  }
  return has_weights && !options.drop_weights;
}

Result<RawGraph> ReadEdgeList(ByteSource& source, const ReadOptions& options) {
  LineChunks chunks(source, options.progress);
  EdgeLineRules rules;
  rules.hash_comments = true;
  rules.expected = "\"src dst\"";
  RawGraph graph;
  // A header may precede the first edge, which decides whether there is a column of weights. All
  // other edges must agree.
  while (true) {
    SLIM_ASSIGN(const auto line, chunks.PeekLine());
    if (!line) break;
    if (!HasNoData(line->text, rules.hash_comments)) {
      const Columns columns = SplitColumns(line->text);
      const bool is_header = graph.header.empty() && IsHeader(columns);
      if (!is_header) {
        rules.weight_column = columns.count == 3;
        if (options.weighted && columns.count == 2) {
          return InputError(
              "{}:{}: expected \"src dst weight\", found {}: leave out --weighted if the edges "
              "have "
              "no weights",
              source.name(), line->number, Quoted(WithoutLineEnd(line->text)));
        }
        break;
      }
      graph.header = Quoted(WithoutLineEnd(line->text));
    }
    chunks.SkipLine();
  }
  if (rules.weight_column || options.weighted) {
    if (rules.weight_column) {
      SLIM_ASSIGN(rules.keep_weights, KeepWeights(true, options, source.name()));
    }
    rules.weight_column = true;
    rules.expected = "\"src dst weight\"";
    graph.weighted = options.weighted || rules.keep_weights;
    rules.keep_weights = graph.weighted;
  }
  SLIM_ASSIGN(graph.blocks, ParseChunks(chunks, options.threads, [&](const LineChunk& chunk) {
                return ParseEdgeLines(chunk, rules, source.name());
              }));
  return graph;
}

Result<std::vector<std::uint64_t>> ReadVertices(ByteSource& source) {
  LineChunks chunks(source, {});
  LineChunk chunk;
  std::vector<std::uint64_t> vertices;
  while (true) {
    SLIM_ASSIGN(const bool more, chunks.NextChunk(chunk));
    if (!more) return vertices;
    std::uint64_t number = chunk.first_line;
    for (const char* p = chunk.begin(); p < chunk.end(); ++number) {
      const char* const newline = std::find(p, chunk.end(), '\n');
      const std::string_view line(p, newline);
      p = newline + 1;
      if (HasNoData(line, true)) continue;
      const Columns columns = SplitColumns(line);
      std::uint64_t id = 0;
      if (columns.count != 1 || !ParseId(columns.column[0], id)) {
        return InputError("{}:{}: expected one vertex id, found {}", source.name(), number,
                          Quoted(line));
      }
      vertices.push_back(id);
    }
  }
}

}  // namespace slimgraph::internal
