#include "slimgraph/remote/list_server.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/remote/internal/list_messages.h"

namespace slimgraph {
namespace {

using internal::ListAnswer;
using internal::ListRequest;

// An answer ends with the list that reaches this size, so that the bytes waiting to be sent are
// bounded.
constexpr std::uint64_t kAnswerBytes = 256 << 10;

// Cuts an answer into messages.
class AnswerWriter {
 public:
  AnswerWriter(Endpoint& endpoint, EndpointAddress to, const ListAnswer& answer)
      : endpoint_(endpoint), to_(to) {
    std::memcpy(message_.data(), &answer, sizeof answer);
  }
  void Put(Bytes bytes) {
    while (!bytes.empty()) {
      if (filled_ == message_.size()) Send();
      const std::size_t count = std::min(bytes.size(), message_.size() - filled_);
      std::memcpy(message_.data() + filled_, bytes.data(), count);
      filled_ += count;
      bytes = bytes.subspan(count);
    }
  }
  void Send() {
    endpoint_.Send(to_, internal::kListAnswer, Bytes(message_).first(filled_));
    filled_ = sizeof(ListAnswer);
  }

 private:
  Endpoint& endpoint_;
  EndpointAddress to_;
  std::array<std::byte, kMaxMessageBytes> message_;
  std::size_t filled_ = sizeof(ListAnswer);
};

struct Found {
  std::uint64_t first_byte;
  EdgeOffset first_arc;
  std::uint32_t length;
};

Found Find(std::span<const OffsetGroup> groups, const ListCode& code, VertexId v) {
  const OffsetGroup& group = groups[v / OffsetGroup::kLists];
  Found found{group.first_byte, group.first_arc, group.lengths[v % OffsetGroup::kLists]};
  for (VertexId i = 0; i < v % OffsetGroup::kLists; ++i) {
    found.first_byte += code.Bytes(group.lengths[i]);
    found.first_arc += group.lengths[i];
  }
  return found;
}

}  // namespace

ListServer::ListServer(Fabric& fabric) : fabric_(fabric) {
  handler_ = fabric.SetHandler(
      internal::kListRequest,
      [this](Endpoint& endpoint, const Message& message) { Answer(endpoint, message); });
}

void ListServer::Add(const ServedLists& lists, VertexId count, const ListCode& code) {
  parts_[lists.regions.lists] = {&lists, count, code};
}

void ListServer::Answer(Endpoint& endpoint, const Message& message) {
  static const StageId serve = StageNamed("serve");
  const NodeId from = message.from.node;
  ListRequest request;
  SLIM_CHECK(message.body.size() > sizeof request, "node {} asked for no lists", from);
  std::memcpy(&request, message.body.data(), sizeof request);
  const auto part = parts_.find(request.lists);
  SLIM_CHECK(part != parts_.end(), "node {} asked for lists of an unknown part", from);
  const auto& [lists, count, code] = part->second;
  const ListCode asked(count);
  SLIM_CHECK(request.count > 0 && asked.Holds(message.body.subspan(sizeof request), request.count),
             "node {} sent a damaged request for {} lists", from, request.count);
  // The decoder may read beyond the coded vertices.
  std::vector<std::byte> coded(message.body.begin() + sizeof request, message.body.end());
  coded.resize(coded.size() + ListCode::kSlackBytes);
  std::vector<VertexId> vertices(request.count);
  SLIM_CHECK(asked.Decode(coded.data(), vertices));
  std::vector<Found> found;
  ListAnswer answer{request.batch, 0, 0};
  for (const VertexId v : vertices) {
    SLIM_CHECK(v < count, "node {} asked for list {} of {}", from, v, count);
    found.push_back(Find(lists->offsets, code, v));
    answer.all_bytes += (request.lengths_wanted != 0 ? sizeof(std::uint32_t) : 0) +
                        code.Bytes(found.back().length) +
                        std::uint64_t{found.back().length} * request.weight_bytes;
    if (answer.all_bytes >= kAnswerBytes) break;
  }
  answer.answered = static_cast<std::uint32_t>(found.size());
  const StageId before = endpoint.stage();
  endpoint.SetStage(serve);
  AnswerWriter writer(endpoint, message.from, answer);
  if (request.lengths_wanted != 0) {
    for (const Found& one : found) writer.Put(std::as_bytes(std::span(&one.length, 1)));
  }
  for (const Found& one : found) {
    writer.Put(lists->lists.subspan(one.first_byte, code.Bytes(one.length)));
  }
  for (const Found& one : found) {
    if (request.weight_bytes == 0) break;
    const std::uint64_t begin = one.first_arc * request.weight_bytes;
    const std::uint64_t bytes = std::uint64_t{one.length} * request.weight_bytes;
    SLIM_CHECK(begin + bytes <= lists->weights.size(), "node {} asked for missing weights", from);
    writer.Put(lists->weights.subspan(begin, bytes));
  }
  writer.Send();
  endpoint.SetStage(before);
}

Status ListServer::ServeWhile(const std::function<Status()>& wait) {
  std::atomic<bool> over{false};
  return RunOnThreads(fabric_.endpoints(), [&](std::size_t thread) -> Status {
    if (thread > 0) {
      Endpoint& endpoint = fabric_.endpoint(static_cast<std::uint32_t>(thread));
      while (!endpoint.WaitUntil([&] { return over.load(); }, std::chrono::hours(1))) {
      }
      return {};
    }
    Status done = wait();
    over = true;
    for (std::uint32_t i = 1; i < fabric_.endpoints(); ++i) fabric_.endpoint(i).Wake();
    return done;
  });
}

}  // namespace slimgraph
