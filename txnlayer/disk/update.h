// Changes of a graph, as lines of text and as words of a log.
//
//   + u v [props]     the edge {u, v} with these properties, whether it is there or not
//   - u v             no edge {u, v}, whether it was there or not
//                     (in a directed graph, both are of the edge from u to v; where edges have
//                     weights, that of one that comes is a number before the properties)
//   +v id [props]     the vertex with these properties, whether it is there or not
//   -v id             no such vertex, and none of its edges
//   # …               nothing; nor is an empty line
//
// Properties are an even number of hexadecimal digits, at most as many bytes as the store gives
// each vertex or edge beside its weight; what is left out is zero.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/result.h"
#include "txnlayer/graph/sides.h"

namespace slimgraph::txn {

enum class UpdateKind : std::uint8_t { kAddEdge, kDeleteEdge, kAddVertex, kDeleteVertex };

struct Update {
  UpdateKind kind = UpdateKind::kAddEdge;
  VertexName one = 0;
  VertexName other = 0;  // of edges
  Bytes properties;      // empty: zeros; else of the store's shape
};

inline bool IsOfVertex(UpdateKind kind) {
  return kind == UpdateKind::kAddVertex || kind == UpdateKind::kDeleteVertex;
}

// --- words: kind and whether there are properties above a name; of edges the other name; the
// properties in whole words.
void AppendUpdate(const Update& update, std::vector<std::uint64_t>& words);
// The update at the beginning of `words`, which become the rest; false: there is no whole one.
bool TakeUpdate(const GraphShape& shape, std::span<const std::uint64_t>& words, Update& update);

// --- lines
void AppendLine(const GraphShape& shape, const Update& update, std::string& text);

class UpdateLines {
 public:
  static Result<UpdateLines> Open(const std::string& path, const GraphShape& shape);

  // The next update, which is valid until the next call; false at the end of the file.
  Result<bool> Next(Update& update);
  // Of the last update, counted from 1. After the last: of the last line.
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

// What tells a file of updates from others: a hash of its contents.
Result<std::uint64_t> IdentityOf(const std::string& path);

}  // namespace slimgraph::txn
