#include <algorithm>
#include <cctype>

#include "slimgraph/files/internal/edge_lines.h"
#include "slimgraph/files/internal/number.h"
#include "slimgraph/files/internal/parse_chunks.h"
#include "slimgraph/files/internal/readers.h"
#include "slimgraph/files/slim_format.h"

namespace slimgraph::internal {
namespace {

struct Banner {
  bool weights = false;
  bool integers = false;
  bool symmetric = false;
};

// "%%MatrixMarket matrix coordinate <field> <symmetry>", upper or lower case.
Result<Banner> ParseBanner(const LineChunks::Line& line, const std::string& name) {
  std::string text(line.text);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string_view> words;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t begin = std::min(rest.find_first_not_of(" \t"), rest.size());
    rest.remove_prefix(begin);
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    if (end > 0) words.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  const bool known_field =
      words.size() == 5 && (words[3] == "pattern" || words[3] == "real" || words[3] == "integer");
  const bool known_symmetry =
      words.size() == 5 && (words[4] == "general" || words[4] == "symmetric");
  if (!known_field || !known_symmetry || words[0] != "%%matrixmarket" || words[1] != "matrix" ||
      words[2] != "coordinate") {
    return InputError(
        "{}:{}: expected \"%%MatrixMarket matrix coordinate pattern|real|integer "
        "general|symmetric\", found {}",
        name, line.number, Quoted(line.text));
  }
  return Banner{words[3] != "pattern", words[3] == "integer", words[4] == "symmetric"};
}

}  // namespace

Result<RawGraph> ReadMatrixMarket(ByteSource& source, const ReadOptions& options) {
  const std::string& name = source.name();
  LineChunks chunks(source, options.progress);
  SLIM_ASSIGN(const auto first, chunks.PeekLine());
  SLIM_ASSIGN(const Banner banner, ParseBanner(first.value_or(LineChunks::Line{{}, 1}), name));
  std::uint64_t rows = 0;
  std::uint64_t entries = 0;
  std::uint64_t size_line = 0;
  while (true) {
    chunks.SkipLine();
    SLIM_ASSIGN(const auto line, chunks.PeekLine());
    if (line && HasNoData(line->text, false)) continue;
    const Columns columns = line ? SplitColumns(line->text) : Columns();
    std::uint64_t width = 0;
    if (columns.count != 3 || !ParseId(columns.column[0], rows) ||
        !ParseId(columns.column[1], width) || !ParseId(columns.column[2], entries)) {
      return InputError("{}:{}: expected \"rows columns entries\", found {}", name,
                        line ? line->number : 1, line ? Quoted(line->text) : "the end of the file");
    }
    if (rows != width) {
      return InputError("{}:{}: expected a square matrix, found {} rows and {} columns", name,
                        line->number, rows, width);
    }
    size_line = line->number;
    break;
  }
  chunks.SkipLine();
  if (rows > kMaxVertices) {
    return InputError("{}: {} vertices are too many: at most {} are supported", name, rows,
                      kMaxVertices);
  }

  EdgeLineRules rules;
  rules.weight_column = banner.weights;
  rules.integer_weights = banner.integers;
  rules.lower_triangle = banner.symmetric;
  rules.first_id = 1;
  rules.id_count = rows;
  rules.expected =
      fmt::format("\"row column{}\" with numbers from 1 to {}{}{}", banner.weights ? " value" : "",
                  rows, banner.symmetric ? ", row >= column as the matrix is symmetric" : "",
                  banner.integers ? " and an integer value" : "");
  SLIM_ASSIGN(rules.keep_weights, KeepWeights(banner.weights, options, name));
  RawGraph graph;
  graph.weighted = rules.keep_weights;
  graph.directed = !banner.symmetric;
  graph.declared_count = rows;
  graph.first_id = 1;
  SLIM_ASSIGN(graph.blocks, ParseChunks(chunks, options.threads, [&](const LineChunk& chunk) {
                return ParseEdgeLines(chunk, rules, name);
              }));
  if (graph.edges() != entries) {
    return InputError("{}:{}: expected {} entries, as this line says, found {}", name, size_line,
                      entries, graph.edges());
  }
  return graph;
}

}  // namespace slimgraph::internal
