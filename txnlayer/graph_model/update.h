// Updates of a graph, as lines of text and as words of a log.
//
//   + u v [props]     adds the edge {u, v}, or sets its properties if it exists
//   - u v             deletes the edge {u, v} if it exists
//                     (In a directed graph both are about the edge from u to v. In a weighted
//                     graph, an added edge has its weight before the properties.)
//   +v id [props]     adds the vertex, or sets its properties if it exists
//   -v id             deletes the vertex and all its edges
//   # …               a comment; empty lines are ignored too
//
// Properties are an even number of hexadecimal digits. They have at most as many bytes as the store
// gives each vertex or edge, without the weight. Missing bytes are zero.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/result.h"
#include "txnlayer/graph_model/sides.h"

namespace slimgraph::txn {

enum class UpdateKind : std::uint8_t { kAddEdge, kDeleteEdge, kAddVertex, kDeleteVertex };

struct Update {
  UpdateKind kind = UpdateKind::kAddEdge;
  VertexName one = 0;
  VertexName other = 0;  // only for edges
  Bytes properties;      // empty (all zeros), or as many bytes as the store gives
};

inline bool IsOfVertex(UpdateKind kind) {
  return kind == UpdateKind::kAddVertex || kind == UpdateKind::kDeleteVertex;
}

// --- As words of a log: the first word has the kind, whether there are properties, and a name. For
// edges, the other name is the second word. The properties follow, padded to whole words.
void AppendUpdate(const Update& update, std::vector<std::uint64_t>& words);
// Reads the update at the beginning of `words`, and advances `words` past it. False: there is no
// complete update.
bool TakeUpdate(const GraphShape& shape, std::span<const std::uint64_t>& words, Update& update);

// --- lines
void AppendLine(const GraphShape& shape, const Update& update, std::string& text);

class UpdateLines {
 public:
  static Result<UpdateLines> Open(const std::string& path, const GraphShape& shape);

  // The next update, which is valid until the next call; false at the end of the file.
  Result<bool> Next(Update& update);
  // The line of the last update, counted from 1. At the end of the file: the last line.
  std::uint64_t line() const { return line_; }
  std::string Where() const { return fmt::format("{}:{}", path_, line_); }

 private:
  UpdateLines(std::string path, UniqueFd fd, const GraphShape& shape)
      : path_(std::move(path)), fd_(std::move(fd)), shape_(shape) {}
  Result<bool> NextLine(std::string_view& text);
  Result<bool> Parse(std::string_view text, Update& update);
  bool ParseWeight(std::string_view word, std::byte* into) const;

  std::string path_;
  UniqueFd fd_;
  GraphShape shape_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t line_ = 0;
  std::vector<std::byte> properties_;
};

// Identifies a file of updates: a hash of its contents.
Result<std::uint64_t> IdentityOf(const std::string& path);

}  // namespace slimgraph::txn
