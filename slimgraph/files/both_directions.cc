#include "slimgraph/files/both_directions.h"

#include <algorithm>

#include "slimgraph/base/check.h"

namespace slimgraph {
namespace {

// Reads the neighbours of one direction in ascending order of places, a block of the file at a
// time.
class NeighbourCursor {
 public:
  NeighbourCursor(const GraphSource& file, Direction direction)
      : file_(file), kind_(file.neighbours(direction)) {}

  // Moves to a list; `at` never decreases.
  void Enter(EdgeOffset at, EdgeOffset end) {
    at_ = at;
    end_ = end;
  }
  bool done() const { return at_ == end_; }
  // Makes the current neighbour available, unless done().
  Status Load() {
    if (done() || at_ < loaded_end_) return {};
    constexpr EdgeOffset kBlock = kSlimBlockBytes / sizeof(VertexId);
    loaded_ = at_;
    loaded_end_ = std::min((at_ / kBlock + 1) * kBlock, file_.arcs());
    ids_.resize(loaded_end_ - loaded_);
    return file_.ReadElements(kind_, loaded_, std::span(ids_), 1);
  }
  VertexId current() const { return ids_[at_ - loaded_]; }
  void Advance() { ++at_; }

 private:
  const GraphSource& file_;
  SectionKind kind_;
  EdgeOffset at_ = 0;
  EdgeOffset end_ = 0;
  EdgeOffset loaded_ = 0;
  EdgeOffset loaded_end_ = 0;
  std::vector<VertexId> ids_;
};

}  // namespace

BothDirections::BothDirections(const GraphSource& file) : file_(&file) {
  path_ = file.path();
  header_.flags = kSlimDuplicates | (file.may_have_self_loops() ? kSlimSelfLoops : 0U);
  header_.version = file.header().version;
  header_.first_original_id = file.header().first_original_id;
  header_.vertices = file.vertices();
  header_.edges = file.edges();
  header_.arcs = 2 * file.arcs();
  header_.checksums_checksum = file.identity();
}

Result<BothDirections> BothDirections::Of(const GraphSource& file) {
  SLIM_CHECK(file.directed());
  if (!file.has(Direction::kIn)) {
    return InputError("{} has no incoming lists: convert it without --no-reverse", file.path());
  }
  BothDirections both(file);
  constexpr VertexId kPiece = 64 * kStep;
  std::vector<EdgeOffset> out;
  std::vector<EdgeOffset> in;
  for (std::uint64_t first = 0; first < file.vertices(); first += kPiece) {
    out.resize(std::min<std::uint64_t>(kPiece, file.vertices() - first));
    in.resize(out.size());
    SLIM_TRY(both.ReadOffsets(Direction::kOut, first, out, 1));
    SLIM_TRY(both.ReadOffsets(Direction::kIn, first, in, 1));
    for (std::size_t i = 0; i < out.size(); i += kStep) both.index_.push_back(out[i] + in[i]);
  }
  return both;
}

bool BothDirections::has(SectionKind kind) const {
  return kind == SectionKind::kOutOffsets || kind == SectionKind::kOutNeighbours ||
         (kind == SectionKind::kOriginalIds && file_->has(kind));
}

std::uint64_t BothDirections::section_bytes(SectionKind kind) const {
  if (!has(kind)) return 0;
  const std::uint64_t bytes = file_->section_bytes(kind);
  return kind == SectionKind::kOutNeighbours ? 2 * bytes : bytes;
}

Status BothDirections::ReadOffsets(Direction direction, std::uint64_t first,
                                   std::span<EdgeOffset> into, std::size_t threads) const {
  return file_->ReadElements(file_->offsets(direction), first, into, threads);
}

Status BothDirections::Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                            std::size_t threads) const {
  SLIM_CHECK(has(kind));
  if (kind == SectionKind::kOriginalIds) return file_->Read(kind, first_byte, into, threads);
  if (kind == SectionKind::kOutNeighbours) {
    SLIM_CHECK(first_byte % sizeof(VertexId) == 0 && into.size() % sizeof(VertexId) == 0);
    return ReadNeighbours(first_byte / sizeof(VertexId), {reinterpret_cast<VertexId*>(into.data()),
                                                          into.size() / sizeof(VertexId)});
  }
  SLIM_CHECK(first_byte % sizeof(EdgeOffset) == 0 && into.size() % sizeof(EdgeOffset) == 0);
  const std::span<EdgeOffset> sums(reinterpret_cast<EdgeOffset*>(into.data()),
                                   into.size() / sizeof(EdgeOffset));
  std::vector<EdgeOffset> in(sums.size());
  const std::uint64_t first = first_byte / sizeof(EdgeOffset);
  SLIM_TRY(ReadOffsets(Direction::kOut, first, sums, threads));
  SLIM_TRY(ReadOffsets(Direction::kIn, first, in, threads));
  for (std::size_t i = 0; i < in.size(); ++i) sums[i] += in[i];
  return {};
}

Status BothDirections::ReadNeighbours(EdgeOffset first, std::span<VertexId> into) const {
  if (into.empty()) return {};
  const auto step = static_cast<std::size_t>(std::upper_bound(index_.begin(), index_.end(), first) -
                                             index_.begin() - 1);
  EdgeOffset at = index_[step];  // where the next list begins
  NeighbourCursor out(*file_, Direction::kOut);
  NeighbourCursor in(*file_, Direction::kIn);
  std::vector<EdgeOffset> outs;
  std::vector<EdgeOffset> ins;
  std::size_t filled = 0;
  for (std::uint64_t v = step * std::uint64_t{kStep}; filled < into.size(); v += kStep) {
    SLIM_CHECK(v < vertices());
    outs.resize(std::min<std::uint64_t>(kStep, vertices() - v) + 1);
    ins.resize(outs.size());
    SLIM_TRY(ReadOffsets(Direction::kOut, v, outs, 1));
    SLIM_TRY(ReadOffsets(Direction::kIn, v, ins, 1));
    for (std::size_t i = 0; i + 1 < outs.size() && filled < into.size(); ++i) {
      const EdgeOffset end = at + (outs[i + 1] - outs[i]) + (ins[i + 1] - ins[i]);
      if (end <= first) {
        at = end;
        continue;
      }
      out.Enter(outs[i], outs[i + 1]);
      in.Enter(ins[i], ins[i + 1]);
      for (; at < end && filled < into.size(); ++at) {
        SLIM_TRY(out.Load());
        SLIM_TRY(in.Load());
        NeighbourCursor& least =
            in.done() || (!out.done() && out.current() <= in.current()) ? out : in;
        if (at >= first) into[filled++] = least.current();
        least.Advance();
      }
    }
  }
  return {};
}

}  // namespace slimgraph
