// Parses lines of the form "src dst [weight]", for edge lists and Matrix Market files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slimgraph/files/internal/line_chunks.h"
#include "slimgraph/files/internal/raw_graph.h"

namespace slimgraph::internal {

constexpr std::int64_t kMaxExactInDouble = std::int64_t{1} << 53;

struct EdgeLineRules {
  bool weight_column = false;
  bool keep_weights = false;
  bool integer_weights = false;           // a decimal weight is an error
  bool hash_comments = false;             // '#' begins a comment line; '%' always does
  bool lower_triangle = false;            // require src >= dst
  std::uint64_t first_id = 0;             // subtracted from both ends
  std::optional<std::uint64_t> id_count;  // ids are first_id .. first_id + id_count - 1
  std::string expected;                   // for messages: `"src dst"`
};

// Parses a whole chunk. `name` is the file's name, for messages.
Result<EdgeBlock> ParseEdgeLines(const LineChunk& chunk, const EdgeLineRules& rules,
                                 const std::string& name);

// The columns of a line, split at blanks and tabs. Keeps the first `kMaxColumns`, and counts all.
struct Columns {
  static constexpr std::size_t kMaxColumns = 4;
  std::array<std::string_view, kMaxColumns> column;
  std::size_t count = 0;
};
Columns SplitColumns(std::string_view line);

// Whether the line is blank or a comment.
bool HasNoData(std::string_view line, bool hash_comments);

}  // namespace slimgraph::internal
