#include "slimgraph/fabric/internal/verbs/service.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace slimgraph {

VerbsService::VerbsService(DatagramSocket socket, Poller poller, const TcpToken& token,
                           Choose choose)
    : socket_(std::move(socket)),
      poller_(std::move(poller)),
      token_(token),
      choose_(std::move(choose)),
      thread_([this] { Run(); }) {}

VerbsService::~VerbsService() {
  ending_ = true;
  poller_.Set();
  thread_.join();
}

void VerbsService::Run() {
  while (!ending_) {
    poller_.Wait(kUntilAsked);
    poller_.Ready();
    VerbsRequest request;
    DatagramSocket::Address from;
    while (const auto bytes =
               socket_.Receive(std::as_writable_bytes(std::span(&request, 1)), from)) {
      if (*bytes == sizeof request && request.hello.token == token_) Answer(request, from);
    }
  }
}

void VerbsService::Answer(const VerbsRequest& request, const DatagramSocket::Address& from) {
  const TcpHello& hello = request.hello;
  const Asker asker{hello.node, hello.endpoint, request.lane};
  auto found = served_.find(asker);
  if (found == served_.end() ||
      std::memcmp(&found->second.asker, &request.address, sizeof request.address) != 0) {
    if (found != served_.end()) served_.erase(found);  // first: nothing may come from it any more
    Served served{.asker = request.address,
                  .pair = {},
                  .reply = {.token = token_,
                            .asking_pair = request.address.queue_pair,
                            .address = VerbsAddress(),
                            .revoked = {}}};
    if (auto pair = MakePair(request)) {
      served.pair = std::move(*pair);
      served.reply.address = served.pair.address();
    }
    found = served_.emplace(asker, std::move(served)).first;
  }
  VerbsReply& reply = found->second.reply;
  std::copy(revoked_.begin(), revoked_.end(), reply.revoked.begin());
  socket_.Send(from, std::as_bytes(std::span(&reply, 1)));
}

Result<VerbsQueuePair> VerbsService::MakePair(const VerbsRequest& request) const {
  const Side side = choose_(request.hello);
  SLIM_ASSIGN(VerbsQueuePair pair, VerbsQueuePair::Make(*side.device, side.shape));
  SLIM_TRY(pair.Connect(request.address));
  return pair;
}

}  // namespace slimgraph
