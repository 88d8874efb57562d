#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

#include "slimgraph/base/parallel.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/files/internal/edge_lines.h"
#include "slimgraph/files/internal/number.h"
#include "slimgraph/files/internal/parse_chunks.h"
#include "slimgraph/files/internal/readers.h"
#include "slimgraph/files/slim_format.h"

namespace slimgraph::internal {
namespace {

struct Header {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool edge_weights = false;
  std::uint64_t line = 0;
};

Result<Header> ReadHeader(LineChunks& chunks, const std::string& name) {
  while (true) {
    SLIM_ASSIGN(const auto line, chunks.PeekLine());
    if (line && HasNoData(line->text, false)) {
      chunks.SkipLine();
      continue;
    }
    const Columns columns = line ? SplitColumns(line->text) : Columns();
    const std::string_view format = columns.count >= 3 ? columns.column[2] : "0";
    Header header;
    header.line = line ? line->number : 1;
    if (columns.count < 2 || columns.count > 4 || !ParseId(columns.column[0], header.vertices) ||
        !ParseId(columns.column[1], header.edges) || format.size() > 3 ||
        format.find_first_not_of("01") != std::string_view::npos) {
      return InputError("{}:{}: expected \"vertices edges [format]\", found {}", name, header.line,
                        line ? Quoted(line->text) : "the end of the file");
    }
    header.edge_weights = format.back() == '1';
    if (format.find('1') < format.size() - 1) {
      return InputError(
          "{}:{}: weights or sizes of vertices (format {}) are not supported; a format of 0 or 1 "
          "is",
          name, header.line, format);
    }
    if (header.vertices > kMaxVertices) {
      return InputError("{}:{}: {} vertices are too many: at most {} are supported", name,
                        header.line, header.vertices, kMaxVertices);
    }
    chunks.SkipLine();
    return header;
  }
}

// Parses the rows of one chunk. The vertex of the first row is known only when all earlier chunks
// are parsed, so the sources of edges are relative to the chunk's first row.
class RowParser {
 public:
  RowParser(const LineChunk& chunk, const Header& header, bool keep_weights,
            const std::string& name)
      : chunk_(chunk), header_(header), keep_weights_(keep_weights), name_(name) {}

  Result<EdgeBlock> Parse() {
    const std::size_t min_bytes = header_.edge_weights ? 4 : 2;  // "1 " or "1 1 "
    const std::size_t capacity =
        static_cast<std::size_t>(chunk_.end() - chunk_.begin()) / min_bytes;
    SLIM_ASSIGN(EdgeBlock block, EdgeBlock::Allocate(capacity + 1, false, keep_weights_));
    std::uint64_t number = chunk_.first_line;
    for (const char* p = chunk_.begin(); p < chunk_.end(); ++number) {
      const char* const newline = std::find(p, chunk_.end(), '\n');
      if (*p != '%') {
        if (!Row({p, newline}, block)) {
          const std::string_view found(p, newline);
          return InputError(
              "{}:{}: expected {} from 1 to {}, found {}", name_, number,
              header_.edge_weights ? "pairs of a neighbour and a weight, neighbours" : "neighbours",
              header_.vertices, Quoted(found));
        }
        if (size_ > row_begin_) used_rows_ = rows_ + 1;
        ++rows_;
      }
      p = newline + 1;
    }
    block.Finish(size_, decimal_);
    return block;
  }

  std::uint64_t rows() const { return rows_; }
  std::uint64_t used_rows() const { return used_rows_; }  // rows up to the last non-blank one

 private:
  bool Row(std::string_view line, EdgeBlock& block) {
    row_begin_ = size_;
    const char* p = line.data();
    const char* const end = p + line.size();
    const auto skip_blanks = [&] {
      while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    };
    for (skip_blanks(); p < end; skip_blanks()) {
      const Digits neighbour = ReadDigits(p);
      p += neighbour.count;
      if (neighbour.count == 0 || neighbour.count > 19 || !AtEndOfWord(p, end)) return false;
      if (neighbour.value - 1 >= header_.vertices) return false;
      block.narrow_data()[size_] = {static_cast<std::uint32_t>(rows_),
                                    static_cast<std::uint32_t>(neighbour.value - 1)};
      if (header_.edge_weights) {
        skip_blanks();
        const char* const word = p;
        while (!AtEndOfWord(p, end)) ++p;
        if (!Weight({word, p}, block)) return false;
      }
      ++size_;
    }
    return true;
  }

  static bool AtEndOfWord(const char* p, const char* end) {
    return p == end || *p == ' ' || *p == '\t' || *p == '\r';
  }

  // METIS has only integer weights.
  bool Weight(std::string_view text, EdgeBlock& block) {
    const auto weight = ParseWeight(text);
    if (!std::holds_alternative<std::int64_t>(weight)) return false;
    if (keep_weights_) {
      block.weight_data()[size_] = static_cast<WeightBits>(std::get<std::int64_t>(weight));
    }
    return true;
  }

  const LineChunk& chunk_;
  const Header& header_;
  const bool keep_weights_;
  const std::string& name_;
  std::size_t size_ = 0;
  std::size_t row_begin_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t used_rows_ = 0;
  bool decimal_ = false;
};

}  // namespace

Result<RawGraph> ReadMetis(ByteSource& source, const ReadOptions& options) {
  const std::string& name = source.name();
  LineChunks chunks(source, options.progress);
  SLIM_ASSIGN(const Header header, ReadHeader(chunks, name));
  RawGraph graph;
  SLIM_ASSIGN(graph.weighted, KeepWeights(header.edge_weights, options, name));
  graph.directed = false;
  graph.declared_count = header.vertices;
  graph.first_id = 1;

  struct Rows {
    std::uint64_t all = 0;
    std::uint64_t used = 0;
  };
  Mutex mutex;
  std::vector<Rows> rows;  // by chunk
  SLIM_ASSIGN(graph.blocks, ParseChunks(chunks, options.threads,
                                        [&](const LineChunk& chunk) -> Result<EdgeBlock> {
                                          RowParser parser(chunk, header, graph.weighted, name);
                                          SLIM_ASSIGN(EdgeBlock block, parser.Parse());
                                          const std::lock_guard lock(mutex);
                                          if (rows.size() <= chunk.index)
                                            rows.resize(chunk.index + 1);
                                          rows[chunk.index] = {parser.rows(), parser.used_rows()};
                                          return block;
                                        }));

  std::vector<std::uint64_t> first_row;
  std::uint64_t count = 0;
  std::uint64_t used = 0;
  for (const Rows& chunk : rows) {
    first_row.push_back(count);
    if (chunk.used > 0) used = count + chunk.used;
    count += chunk.all;
  }
  if (count < header.vertices || used > header.vertices) {
    return InputError("{}:{}: expected {} lines of neighbours, as this line says, found {}", name,
                      header.line, header.vertices, std::max(used, count));
  }
  const std::uint64_t arcs = graph.edges();
  SLIM_TRY(ParallelFor(graph.blocks.size(), options.threads, [&](std::size_t i) -> Status {
    for (NarrowEdge& edge : graph.blocks[i].narrow()) {
      edge.src += static_cast<std::uint32_t>(first_row[i]);
    }
    return {};
  }));
  SLIM_TRY(KeepEachEdgeOnce(graph, name, options.threads));
  // The counts differ if there are self-loops, which METIS forbids: a self-loop is listed once.
  if (arcs != 2 * header.edges && graph.edges() != header.edges) {
    return InputError("{}:{}: expected {} edges, as this line says, found {}", name, header.line,
                      header.edges, graph.edges());
  }
  return graph;
}

}  // namespace slimgraph::internal
