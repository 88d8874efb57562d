#include "slimgraph/files/list_writer.h"

#include <algorithm>

#include "slimgraph/base/check.h"
#include "slimgraph/files/internal/slim_writer.h"

namespace slimgraph {

ListWriter::ListWriter(std::unique_ptr<internal::SlimWriter> writer) : writer_(std::move(writer)) {
  Begin(Direction::kOut);
}
ListWriter::ListWriter(ListWriter&&) noexcept = default;
ListWriter::~ListWriter() = default;

Result<ListWriter> ListWriter::Create(const std::string& path) {
  SLIM_ASSIGN(auto writer, internal::SlimWriter::Create(path));
  return ListWriter(std::make_unique<internal::SlimWriter>(std::move(writer)));
}

void ListWriter::Begin(Direction direction) {
  direction_ = direction;
  offsets_ = {0};
  weights_.clear();
  const bool out = direction == Direction::kOut;
  writer_->Begin(out ? SectionKind::kOutNeighbours : SectionKind::kInNeighbours, sizeof(VertexId));
}

Status ListWriter::End() {
  SLIM_TRY(writer_->End());
  const bool out = direction_ == Direction::kOut;
  if (weight_type_ != WeightType::kNone) {
    writer_->Begin(out ? SectionKind::kOutWeights : SectionKind::kInWeights,
                   static_cast<std::uint32_t>(WeightBytes(weight_type_)));
    SLIM_TRY(writer_->Append(weights_));
    SLIM_TRY(writer_->End());
  }
  writer_->Begin(out ? SectionKind::kOutOffsets : SectionKind::kInOffsets, sizeof(EdgeOffset));
  SLIM_TRY(writer_->Append(std::as_bytes(std::span(offsets_))));
  return writer_->End();
}

Status ListWriter::BeginIncoming() {
  SLIM_TRY(End());
  outgoing_ = offsets_.back();
  Begin(Direction::kIn);
  return {};
}

Status ListWriter::Append(std::span<const VertexId> list, Bytes weights) {
  SLIM_CHECK(weights.size() == list.size() * WeightBytes(weight_type_));
  weights_.insert(weights_.end(), weights.begin(), weights.end());
  const auto self = static_cast<VertexId>(offsets_.size() - 1);
  if (direction_ == Direction::kOut && std::binary_search(list.begin(), list.end(), self)) ++loops_;
  offsets_.push_back(offsets_.back() + list.size());
  return writer_->Append(std::as_bytes(list));
}

Result<std::uint64_t> ListWriter::Finish(const OriginalIds& ids, Outlives outlives) {
  SLIM_CHECK(ids.count() + std::size_t{1} == offsets_.size(), "{} lists of {} vertices",
             offsets_.size() - 1, ids.count());
  const bool directed = direction_ == Direction::kIn;
  SLIM_CHECK(!directed || offsets_.back() == outgoing_, "{} incoming edges of {}", offsets_.back(),
             outgoing_);
  SLIM_TRY(End());
  SLIM_TRY(writer_->AppendIds(ids));
  SlimHeader header = {};
  header.flags = (directed ? kSlimDirected : 0U) | (loops_ > 0 ? kSlimSelfLoops : 0U);
  header.weight_type = weight_type_;
  header.vertices = ids.count();
  header.first_original_id = ids.first();
  header.arcs = offsets_.back();
  header.edges = directed ? header.arcs : (header.arcs + loops_) / 2;
  SLIM_TRY(writer_->Finish(header, outlives));
  return header.edges;
}

}  // namespace slimgraph
