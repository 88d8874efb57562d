// Reads a BVGraph of the WebGraph framework (Boldi and Vigna, "The WebGraph Framework I", WWW
// 2004), from the first list to the last. The .properties file chooses the code of each number. The
// list of vertex x consists of:
//
//   - its outdegree d; if d is 0, nothing follows
//   - if there is a window: a reference y; 0 means none. Otherwise blocks of the list of x - y are
//     copied: the number of blocks, then their lengths, all but the first minus 1. Blocks
//     are copied and left out in turn; after an even number of blocks, the rest is copied as well
//   - if neighbours are missing and there are intervals: the number of intervals, then of each the
//     left end and the length minus the shortest length. The first left end is relative to x, with
//     the sign in the lowest bit; the others are relative to the previous end, minus 1
//   - if neighbours are still missing: residuals. The first is relative to x, with the sign in the
//     lowest bit; the others are relative to the previous residual, minus 1
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>

#include "slimgraph/base/available_memory.h"
#include "slimgraph/files/internal/bit_reader.h"
#include "slimgraph/files/internal/list_blocks.h"
#include "slimgraph/files/internal/readers.h"

namespace slimgraph::internal {
namespace {

enum class Code { kUnary, kGamma, kDelta, kZeta, kNibble };

struct Layout {
  std::uint64_t nodes = 0;
  std::uint64_t arcs = 0;
  std::uint64_t window = 0;
  std::uint64_t shortest_interval = 0;  // 0: lists have no intervals
  unsigned zeta_k = 3;
  Code outdegrees = Code::kGamma;
  Code blocks = Code::kGamma;
  Code residuals = Code::kZeta;
  Code references = Code::kUnary;
  Code block_count = Code::kGamma;
};

constexpr std::uint64_t kMaxWindow = 1 << 16;

using Properties = std::map<std::string, std::string>;

// Parses "name=value" lines, as Java writes them. '#' and '!' begin comments.
Properties ParseProperties(const std::string& text) {
  Properties properties;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#' || line[first] == '!') continue;
    const std::size_t end = line.find_first_of("=:", first);
    if (end == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", end + 1);
    std::string name = line.substr(first, end - first);
    while (name.ends_with(' ')) name.pop_back();
    properties[name] = value == std::string::npos ? "" : line.substr(value);
  }
  return properties;
}

Result<std::uint64_t> NumberOf(const Properties& properties, const std::string& name,
                               const std::string& file) {
  const auto found = properties.find(name);
  if (found == properties.end()) return InputError("{}: there is no '{}'", file, name);
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc() && end == text.data() + text.size()) return value;
  return InputError("{}: expected a number as '{}', found '{}'", file, name, text);
}

// Applies a flag like "RESIDUALS_GAMMA", which names a part of a list and the code of its numbers.
Status Choose(Layout& layout, const std::string& flag, const std::string& file) {
  constexpr std::array<std::pair<std::string_view, Code>, 5> kCodes = {
      {{"_UNARY", Code::kUnary},
       {"_GAMMA", Code::kGamma},
       {"_DELTA", Code::kDelta},
       {"_ZETA", Code::kZeta},
       {"_NIBBLE", Code::kNibble}}};
  const std::array<std::pair<std::string_view, Code*>, 5> parts = {
      {{"OUTDEGREES", &layout.outdegrees},
       {"BLOCKS", &layout.blocks},
       {"RESIDUALS", &layout.residuals},
       {"REFERENCES", &layout.references},
       {"BLOCK_COUNT", &layout.block_count}}};
  for (const auto& [part, place] : parts) {
    for (const auto& [ending, code] : kCodes) {
      if (flag != std::string(part) + std::string(ending)) continue;
      *place = code;
      return {};
    }
  }
  if (flag.starts_with("OFFSETS_")) return {};  // about the .offsets file, which is not read
  return InputError("{}: lists with the compression flag '{}' cannot be read", file, flag);
}

Result<Layout> LayoutOf(const std::string& text, const std::string& file) {
  const Properties properties = ParseProperties(text);
  Layout layout;
  SLIM_ASSIGN(layout.nodes, NumberOf(properties, "nodes", file));
  SLIM_ASSIGN(layout.arcs, NumberOf(properties, "arcs", file));
  SLIM_ASSIGN(layout.window, NumberOf(properties, "windowsize", file));
  SLIM_ASSIGN(layout.shortest_interval, NumberOf(properties, "minintervallength", file));
  const auto graph_class = properties.find("graphclass");
  if (graph_class != properties.end() && !graph_class->second.ends_with(".BVGraph")) {
    return InputError("{}: expected a BVGraph, found a {}", file, graph_class->second);
  }
  const auto flags = properties.find("compressionflags");
  if (flags != properties.end()) {
    std::istringstream words(flags->second);
    for (std::string word; words >> word;) {
      if (word != "|") SLIM_TRY(Choose(layout, word, file));
    }
  }
  if (layout.residuals == Code::kZeta) {
    SLIM_ASSIGN(const std::uint64_t k, NumberOf(properties, "zetak", file));
    if (k < 1 || k > 32) return InputError("{}: zeta codes of k = {} are unknown", file, k);
    layout.zeta_k = static_cast<unsigned>(k);
  }
  if (layout.nodes > kMaxVertices) {
    return InputError("{}: {} vertices are more than the {} that are supported", file, layout.nodes,
                      kMaxVertices);
  }
  if (layout.window > kMaxWindow) {
    return InputError("{}: a window of {} lists is more than {}", file, layout.window, kMaxWindow);
  }
  return layout;
}

// Reads list after list, and keeps the lists of the reference window.
class Lists {
 public:
  Lists(ByteSource& source, const Layout& layout)
      : name_(source.name()), layout_(layout), bits_(source), window_(layout.window + 1) {}

  // Reads the list of the next vertex. It stays valid until the next call.
  Result<const std::vector<VertexId>*> ReadNext() {
    const std::uint64_t x = next_++;
    std::vector<VertexId>& list = window_[x % window_.size()];
    list.clear();
    const std::uint64_t degree = Read(layout_.outdegrees);
    if (degree == 0 && bits_.ok()) return &list;
    if (degree > layout_.arcs - arcs_) {
      SLIM_TRY(bits_.status());
      return Wrong(x, "more arcs than the properties file says");
    }
    arcs_ += degree;
    copied_.clear();
    extra_.clear();
    SLIM_TRY(Copy(x, degree));
    SLIM_TRY(ReadIntervals(x, degree));
    SLIM_TRY(ReadResiduals(x, degree));
    SLIM_TRY(bits_.status());
    list.resize(degree);
    // Merges the three ascending parts: copied neighbours, intervals and residuals.
    const auto middle = extra_.begin() + static_cast<std::ptrdiff_t>(intervals_end_);
    merged_.resize(extra_.size());
    std::merge(extra_.begin(), middle, middle, extra_.end(), merged_.begin());
    std::merge(copied_.begin(), copied_.end(), merged_.begin(), merged_.end(), list.begin());
    if (std::adjacent_find(list.begin(), list.end()) != list.end()) {
      return Wrong(x, "a duplicate neighbour");
    }
    return &list;
  }

  std::uint64_t arcs() const { return arcs_; }

 private:
  std::uint64_t Read(Code code) {
    switch (code) {
      case Code::kUnary:
        return bits_.Unary();
      case Code::kGamma:
        return bits_.Gamma();
      case Code::kDelta:
        return bits_.Delta();
      case Code::kZeta:
        return bits_.Zeta(layout_.zeta_k);
      case Code::kNibble:
        return bits_.Nibble();
    }
    return 0;
  }

  tl::unexpected<Error> Wrong(std::uint64_t x, const char* what) const {
    return InputError("{}: the list of {} has {}", name_, x, what);
  }

  // x plus the signed difference that `code` stands for; its lowest bit is the sign.
  static std::uint64_t Relative(std::uint64_t x, std::uint64_t code) {
    return (code & 1) != 0 ? x - (code >> 1) - 1 : x + (code >> 1);
  }

  Status Copy(std::uint64_t x, std::uint64_t degree) {
    if (layout_.window == 0) return {};
    const std::uint64_t back = Read(layout_.references);
    if (back == 0) return {};
    if (back > layout_.window || back > x) return Wrong(x, "a reference out of its window");
    const std::vector<VertexId>& from = window_[(x - back) % window_.size()];
    const std::uint64_t blocks = Read(layout_.block_count);
    if (blocks > from.size() + 1) return Wrong(x, "more blocks than its reference has neighbours");
    std::uint64_t at = 0;
    const auto take = [&](std::uint64_t end) {
      copied_.insert(copied_.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                     from.begin() + static_cast<std::ptrdiff_t>(end));
    };
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t length = Read(layout_.blocks) + (i == 0 ? 0 : 1);
      if (length > from.size() - at) return Wrong(x, "blocks beyond the end of its reference");
      if (i % 2 == 0) take(at + length);
      at += length;
    }
    if (blocks % 2 == 0) take(from.size());
    return copied_.size() > degree ? Wrong(x, "more copied neighbours than it has") : Status();
  }

  Status ReadIntervals(std::uint64_t x, std::uint64_t degree) {
    intervals_end_ = 0;
    std::uint64_t left = degree - copied_.size();
    if (left == 0 || layout_.shortest_interval == 0) return {};
    const std::uint64_t count = bits_.Gamma();
    if (count > left / layout_.shortest_interval) return Wrong(x, "more intervals than neighbours");
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t code = bits_.Gamma();
      at = i == 0 ? Relative(x, code) : at + code + 1;
      const std::uint64_t length = bits_.Gamma() + layout_.shortest_interval;
      if (length > left) return Wrong(x, "longer intervals than it has neighbours");
      if (at >= layout_.nodes || length > layout_.nodes - at) return OutOfRange(x);
      left -= length;
      for (std::uint64_t v = at; v < at + length; ++v) extra_.push_back(static_cast<VertexId>(v));
      at += length;
    }
    intervals_end_ = extra_.size();
    return {};
  }

  Status ReadResiduals(std::uint64_t x, std::uint64_t degree) {
    const std::uint64_t count = degree - copied_.size() - extra_.size();
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t code = Read(layout_.residuals);
      at = i == 0 ? Relative(x, code) : at + code + 1;
      if (at >= layout_.nodes) return OutOfRange(x);
      extra_.push_back(static_cast<VertexId>(at));
    }
    return {};
  }

  Status OutOfRange(std::uint64_t x) const {
    SLIM_TRY(bits_.status());
    return Wrong(x, "a neighbour that is no vertex of the graph");
  }

  const std::string name_;
  const Layout layout_;
  BitReader bits_;
  std::vector<std::vector<VertexId>> window_;
  std::uint64_t next_ = 0;
  std::uint64_t arcs_ = 0;
  // Parts of the list that is being read.
  std::vector<VertexId> copied_;
  std::vector<VertexId> extra_;  // intervals, then residuals
  std::size_t intervals_end_ = 0;
  std::vector<VertexId> merged_;
};

// Collects the arcs of the lists into blocks.
class Blocks {
 public:
  Blocks(RawGraph& graph, std::uint64_t arcs) : graph_(graph), left_(arcs) {}

  Status Add(VertexId from, std::span<const VertexId> list) {
    while (!list.empty()) {
      if (used_ == room_) {
        SLIM_TRY(Close());
        room_ = static_cast<std::size_t>(std::min<std::uint64_t>(kListBlockArcs, left_));
        SLIM_ASSIGN(block_, EdgeBlock::Allocate(room_, false, false));
      }
      const std::size_t count = std::min(list.size(), room_ - used_);
      for (const VertexId to : list.first(count)) block_.narrow_data()[used_++] = {from, to};
      left_ -= count;
      list = list.subspan(count);
    }
    return {};
  }
  Status Close() {
    if (used_ == 0) return {};
    block_.Finish(used_, false);
    graph_.blocks.push_back(std::move(block_));
    used_ = room_ = 0;
    return {};
  }

 private:
  RawGraph& graph_;
  std::uint64_t left_;
  EdgeBlock block_;
  std::size_t used_ = 0;
  std::size_t room_ = 0;
};

}  // namespace

Result<RawGraph> ReadWebGraph(ByteSource& source, const std::string& properties,
                              const std::string& properties_name, const ReadOptions& options) {
  SLIM_ASSIGN(const Layout layout, LayoutOf(properties, properties_name));
  RawGraph graph;
  SLIM_ASSIGN(graph.weighted, KeepWeights(false, options, source.name()));
  graph.directed = true;
  graph.declared_count = layout.nodes;
  if (layout.arcs > 0 && (layout.nodes == 0 || (layout.arcs - 1) / layout.nodes >= layout.nodes)) {
    return InputError("{}: {} arcs are too many between {} vertices", properties_name, layout.arcs,
                      layout.nodes);
  }
  // A few bits can encode many arcs, so the length of the file does not bound the memory needed.
  SLIM_TRY(CheckMemory(layout.arcs * sizeof(NarrowEdge), fmt::format("reading {}", source.name())));
  Lists lists(source, layout);
  Blocks blocks(graph, layout.arcs);
  constexpr std::uint64_t kReportEvery = 1 << 12;
  for (std::uint64_t v = 0; v < layout.nodes; ++v) {
    SLIM_ASSIGN(const std::vector<VertexId>* const list, lists.ReadNext());
    SLIM_TRY(blocks.Add(static_cast<VertexId>(v), *list));
    if (options.progress && v % kReportEvery == 0) {
      options.progress(source.position(), source.total());
    }
  }
  SLIM_TRY(blocks.Close());
  if (lists.arcs() != layout.arcs) {
    return InputError("{}: expected {} arcs, as {} says, found {}", source.name(), layout.arcs,
                      properties_name, lists.arcs());
  }
  return graph;
}

}  // namespace slimgraph::internal
