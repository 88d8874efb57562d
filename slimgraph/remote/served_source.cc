#include "slimgraph/remote/served_source.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/remote/internal/list_messages.h"

namespace slimgraph {

using internal::ListAnswer;
using internal::ListRequest;

// A failed reader is destroyed without waiting for answers in flight. So an endpoint may receive an
// answer when it has no source; the handler drops it.
ListAnswers::ListAnswers(Fabric& fabric) : sources_(fabric.endpoints()) {
  handler_ =
      fabric.SetHandler(internal::kListAnswer, [this](Endpoint& endpoint, const Message& message) {
        ServedSource* const source = sources_[endpoint.address().endpoint];
        if (source != nullptr) source->Take(message.body);
      });
}

ServedSource::ServedSource(Fabric& fabric, Endpoint& endpoint, ListAnswers& answers,
                           std::span<ListBatch> batches)
    : fabric_(fabric), endpoint_(endpoint), answers_(answers), batches_(batches) {
  answers_.sources_[endpoint.address().endpoint] = this;
}

ServedSource::~ServedSource() { answers_.sources_[endpoint_.address().endpoint] = nullptr; }

Status ServedSource::CheckAlive(NodeId node) const {
  // Check all nodes, not only `node`: it may be alive but have given up because another node died.
  for (NodeId other = 0; other < fabric_.nodes(); ++other) {
    if (fabric_.alive(other)) continue;
    return EnvironmentError("node {} was lost while node {} was asked for lists", other, node);
  }
  return {};
}

void ServedSource::StartFetch(ListBatch& batch) {
  batch.requested.clear();
  batch.filled = 0;
  for (std::size_t i = batch.begin;
       i < batch.items.size() && batch.requested.size() < internal::kMaxListsAsked; ++i) {
    if (batch.items[i].fetch) batch.requested.push_back(i);
  }
  const std::size_t count = batch.requested.size();
  if (count == 0) {
    batch.end = batch.items.size();
    batch.arrived = true;
    return;
  }
  const DelegatedLists::Part& part = batch.lists->part();
  vertices_.clear();
  for (const std::size_t i : batch.requested) {
    vertices_.push_back(part.begin.list + batch.items[i].v);
  }
  const ListCode code(std::max(part.region_lists, part.count));
  SLIM_CHECK(code.CanEncode(vertices_), "the lists asked for do not ascend");
  request_.assign(sizeof(ListRequest) + code.Bytes(count), std::byte{0});
  const ListRequest request{
      .batch = static_cast<std::uint32_t>(batch.number),
      .lists = part.regions.lists,
      .count = static_cast<std::uint32_t>(count),
      .lengths_wanted = static_cast<std::uint16_t>(batch.lists->index() == nullptr ? 1 : 0),
      .weight_bytes = static_cast<std::uint16_t>(part.weight_bytes)};
  std::memcpy(request_.data(), &request, sizeof request);
  code.Encode(vertices_, request_.data() + sizeof request);
  endpoint_.Send({part.node, endpoint_.address().endpoint}, internal::kListRequest, request_);
}

void ServedSource::Take(Bytes message) {
  ListAnswer answer;
  SLIM_CHECK(message.size() >= sizeof answer);
  std::memcpy(&answer, message.data(), sizeof answer);
  const Bytes piece = message.subspan(sizeof answer);
  SLIM_CHECK(answer.batch < batches_.size());
  ListBatch& batch = batches_[answer.batch];
  SLIM_CHECK(batch.filled + piece.size() <= answer.all_bytes);
  SLIM_CHECK(answer.answered > 0 && answer.answered <= batch.requested.size());
  if (batch.bytes.size() < answer.all_bytes + ListCode::kSlackBytes) {
    batch.bytes.resize(answer.all_bytes + ListCode::kSlackBytes);
  }
  if (!piece.empty()) std::memcpy(batch.bytes.data() + batch.filled, piece.data(), piece.size());
  batch.filled += piece.size();
  if (batch.filled < answer.all_bytes) return;
  FindInAnswer(batch, answer.answered);
  batch.end = answer.answered < batch.requested.size() ? batch.requested[answer.answered]
                                                       : batch.items.size();
  batch.arrived = true;
}

void ServedSource::FindInAnswer(ListBatch& batch, std::uint32_t answered) {
  const DelegatedLists::Part& part = batch.lists->part();
  const bool told = batch.lists->index() == nullptr;
  const auto item = [&](std::size_t i) -> ListItem& { return batch.items[batch.requested[i]]; };
  SLIM_CHECK(!told || batch.filled >= answered * sizeof(std::uint32_t));
  std::size_t at = 0;
  for (std::size_t i = 0; told && i < answered; ++i, at += sizeof(std::uint32_t)) {
    std::uint32_t length;
    std::memcpy(&length, batch.bytes.data() + at, sizeof length);
    item(i).length = length;
  }
  for (std::size_t i = 0; i < answered; ++i) {
    item(i).coded_at = at;
    at += part.code.Bytes(item(i).length);
  }
  for (std::size_t i = 0; part.weight_bytes > 0 && i < answered; ++i) {
    item(i).weights_at = at;
    at += item(i).length * part.weight_bytes;
  }
  SLIM_CHECK(at == batch.filled);
}

}  // namespace slimgraph
