#include "dkudu/internal/graph/list_exchange.h"

#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/cluster/stage_scope.h"

namespace slimgraph::dkudu {
namespace {

const Stage kServe("serve lists");
constexpr auto kLongWait = std::chrono::seconds(1);

}  // namespace

Result<std::unique_ptr<ListExchange>> ListExchange::Start(Cluster& cluster,
                                                          const MiningGraph& graph, Fetch fetch) {
  std::unique_ptr<ListExchange> server(new ListExchange(cluster, graph));
  const std::uint32_t threads = cluster.threads();
  SLIM_CHECK(cluster.fabric().endpoints() > threads, "there is no endpoint to serve with");
  AnswerRoom room;
  const std::uint64_t room_bytes = ListFetch::kSlots * ListFetch::SlotBytes(graph);  // per thread
  if (fetch == Fetch::kRequest && graph.compute() > 1) {
    Fabric& fabric = cluster.fabric();
    const std::uint64_t bytes = cluster.computes() ? threads * room_bytes : 0;
    SLIM_ASSIGN(const SharedRegion region, fabric.Share(bytes));
    room.region = server->room_ = region.id;
    room.memory = region.memory.data();
    ListExchange& mine = *server;
    server->request_handler_ = fabric.SetHandler(
        RangeRequest::kRequestHandler, [&mine](Endpoint& endpoint, const Message& message) {
          mine.TakeRequest(endpoint, message);
        });
    server->answered_handler_ = fabric.SetHandler(
        RangeRequest::kAnsweredHandler, [&mine](Endpoint& endpoint, const Message& message) {
          std::uint32_t slot = 0;
          std::memcpy(&slot, message.body.data(), sizeof slot);
          mine.fetches_[endpoint.address().endpoint].OnAnswer(slot);
        });
  }
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    server->fetches_.emplace_back(cluster.job(), graph, cluster.fabric().endpoint(thread), room);
    room.offset += room_bytes;
    if (room.memory != nullptr) room.memory += room_bytes;
  }
  if (graph.compute() == 1) return server;
  SLIM_TRY(cluster.all().Barrier());  // no node sends a request before all can answer
  if (cluster.computes()) {
    ListExchange& mine = *server;
    server->thread_ =
        Thread([&mine] { mine.Serve(mine.cluster_.fabric().endpoint(mine.cluster_.threads())); });
  }
  return server;
}

void ListExchange::Serve(Endpoint& endpoint) {
  StageSeconds seconds{};
  const StageScope scope(endpoint, seconds, kServe);
  std::vector<Completion> written;
  while (!stopping_) {
    written.clear();
    if (endpoint.Poll(written) == 0) endpoint.Wait(kLongWait);
    for (const Completion& one : written) {
      const Answer& answer = answers_[one.tag];
      free_answers_.push_back(one.tag);
      // A requester that is gone is not notified.
      if (one.outcome != Outcome::kOk) continue;
      endpoint.Send(answer.to, RangeRequest::kAnsweredHandler,
                    std::as_bytes(std::span(&answer.slot, 1)));
    }
  }
}

void ListExchange::TakeRequest(Endpoint& endpoint, const Message& message) {
  RangeRequest request;
  std::memcpy(&request, message.body.data(), sizeof request);
  if (free_answers_.empty()) {
    free_answers_.push_back(answers_.size());
    answers_.emplace_back();
  }
  const std::uint64_t tag = free_answers_.back();
  free_answers_.pop_back();
  Answer& answer = answers_[tag];
  answer.to = message.from;
  answer.slot = request.slot;
  answer.bytes.clear();
  const std::byte* at = message.body.data() + sizeof request;
  for (std::uint32_t i = 0; i < request.ranges; ++i) {
    RangeRequest::Range range;
    std::memcpy(&range, at, sizeof range);
    at += sizeof range;
    const Bytes lists = graph_.coded().subspan(range.begin, range.bytes);
    answer.bytes.insert(answer.bytes.end(), lists.begin(), lists.end());
  }
  endpoint.Write(answer.to.node, room_, request.answer_offset, Bytes(answer.bytes), tag);
  endpoint.Ring();
}

Status ListExchange::Stop() {
  // A node that calls Stop() has received every list that it asked for.
  if (cluster_.topology().compute() > 1) SLIM_TRY(cluster_.all().Barrier());
  StopServing();
  return {};
}

void ListExchange::StopServing() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  Endpoint& endpoint = cluster_.fabric().endpoint(cluster_.threads());
  endpoint.Wake();
  thread_.join();
  endpoint.Flush();  // pending writes read from this object's answers
}

}  // namespace slimgraph::dkudu
