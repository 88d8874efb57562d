#include "slimgraph/remote/served_source.h"

#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/remote/internal/list_messages.h"

namespace slimgraph {

using internal::ListAnswer;
using internal::ListRequest;

ListAnswers::ListAnswers(Fabric& fabric) : sources_(fabric.endpoints()) {
  fabric.SetHandler(internal::kListAnswer, [this](Endpoint& endpoint, const Message& message) {
    sources_[endpoint.address().endpoint]->Take(message.body);
  });
}

ServedSource::ServedSource(Fabric& fabric, Endpoint& endpoint, ListAnswers& answers,
                           std::span<ListBatch> batches)
    : fabric_(fabric), endpoint_(endpoint), answers_(answers), batches_(batches) {
  answers_.sources_[endpoint.address().endpoint] = this;
}

ServedSource::~ServedSource() { answers_.sources_[endpoint_.address().endpoint] = nullptr; }

Status ServedSource::Check(NodeId node) const {
  // One that lives may have given up, where another does not.
  for (NodeId other = 0; other < fabric_.nodes(); ++other) {
    if (fabric_.alive(other)) continue;
    return EnvironmentError("node {} was lost while node {} was asked for lists", other, node);
  }
  return {};
}

void ServedSource::Ask(ListBatch& batch) {
  batch.asked.clear();
  batch.filled = 0;
  for (std::size_t i = batch.begin;
       i < batch.items.size() && batch.asked.size() < internal::kMaxListsAsked; ++i) {
    if (batch.items[i].fetch) batch.asked.push_back(i);
  }
  const std::size_t count = batch.asked.size();
  if (count == 0) {
    batch.end = batch.items.size();
    batch.arrived = true;
    return;
  }
  const DelegatedLists::Place& place = batch.lists->place();
  vertices_.clear();
  for (const std::size_t i : batch.asked) vertices_.push_back(batch.items[i].v);
  const ListCode code(place.count);
  request_.assign(sizeof(ListRequest) + code.Bytes(count), std::byte{0});
  const ListRequest request{
      .batch = static_cast<std::uint32_t>(batch.number),
      .lists = place.regions.lists,
      .count = static_cast<std::uint32_t>(count),
      .lengths_wanted = static_cast<std::uint16_t>(batch.lists->index() == nullptr ? 1 : 0),
      .weight_bytes = static_cast<std::uint16_t>(place.weight_bytes)};
  std::memcpy(request_.data(), &request, sizeof request);
  code.Encode(vertices_, request_.data() + sizeof request);
  endpoint_.Send({place.node, endpoint_.address().endpoint}, internal::kListRequest, request_);
}

void ServedSource::Take(Bytes message) {
  ListAnswer answer;
  std::memcpy(&answer, message.data(), sizeof answer);
  const Bytes piece = message.subspan(sizeof answer);
  ListBatch& batch = batches_[answer.batch];
  SLIM_CHECK(batch.filled + piece.size() <= answer.all_bytes && answer.answered > 0);
  if (batch.bytes.size() < answer.all_bytes + ListCode::kSlackBytes) {
    batch.bytes.resize(answer.all_bytes + ListCode::kSlackBytes);
  }
  if (!piece.empty()) std::memcpy(batch.bytes.data() + batch.filled, piece.data(), piece.size());
  batch.filled += piece.size();
  if (batch.filled < answer.all_bytes) return;
  FindInAnswer(batch, answer.answered);
  batch.end =
      answer.answered < batch.asked.size() ? batch.asked[answer.answered] : batch.items.size();
  batch.arrived = true;
}

void ServedSource::FindInAnswer(ListBatch& batch, std::uint32_t answered) {
  const DelegatedLists::Place& place = batch.lists->place();
  const bool told = batch.lists->index() == nullptr;
  const auto item = [&](std::size_t i) -> ListItem& { return batch.items[batch.asked[i]]; };
  std::size_t at = 0;
  for (std::size_t i = 0; told && i < answered; ++i, at += sizeof(std::uint32_t)) {
    std::uint32_t length;
    std::memcpy(&length, batch.bytes.data() + at, sizeof length);
    item(i).length = length;
  }
  for (std::size_t i = 0; i < answered; ++i) {
    item(i).coded_at = at;
    at += place.code.Bytes(item(i).length);
  }
  for (std::size_t i = 0; place.weight_bytes > 0 && i < answered; ++i) {
    item(i).weights_at = at;
    at += item(i).length * place.weight_bytes;
  }
  SLIM_CHECK(at == batch.filled);
}

}  // namespace slimgraph
