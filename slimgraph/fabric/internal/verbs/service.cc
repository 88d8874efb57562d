#include "slimgraph/fabric/internal/verbs/service.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace slimgraph {

VerbsService::VerbsService(DatagramSocket socket, Poller poller, const VerbsToken& token,
                           ChooseParameters choose_parameters)
    : socket_(std::move(socket)),
      poller_(std::move(poller)),
      token_(token),
      choose_parameters_(std::move(choose_parameters)),
      thread_([this] { Run(); }) {}

VerbsService::~VerbsService() {
  ending_ = true;
  poller_.Set();
  thread_.join();
}

void VerbsService::Run() {
  while (!ending_) {
    poller_.Wait(kUntilWoken);
    poller_.Ready();
    VerbsRequest request;
    SocketAddress from;
    while (const auto bytes =
               socket_.Receive(std::as_writable_bytes(std::span(&request, 1)), from)) {
      if (*bytes == sizeof request && request.hello.token == token_) Answer(request, from);
    }
  }
}

void VerbsService::Answer(const VerbsRequest& request, const SocketAddress& from) {
  const VerbsHello& hello = request.hello;
  const RequesterId requester{hello.node, hello.endpoint, request.lane};
  auto found = served_.find(requester);
  if (found == served_.end() ||
      std::memcmp(&found->second.requester, &request.address, sizeof request.address) != 0) {
    // Destroys the old queue pair first, so that nothing more arrives through it.
    if (found != served_.end()) served_.erase(found);
    Served served{.requester = request.address,
                  .pair = {},
                  .reply = {.token = token_,
                            .requesting_pair = request.address.queue_pair,
                            .address = VerbsAddress(),
                            .revoked = {}}};
    if (auto pair = MakePair(request)) {
      served.pair = std::move(*pair);
      served.reply.address = served.pair.address();
    }
    found = served_.emplace(requester, std::move(served)).first;
  }
  VerbsReply& reply = found->second.reply;
  std::copy(revoked_.begin(), revoked_.end(), reply.revoked.begin());
  socket_.Send(from, std::as_bytes(std::span(&reply, 1)));
}

Result<VerbsQueuePair> VerbsService::MakePair(const VerbsRequest& request) const {
  const PairParameters parameters = choose_parameters_(request.hello);
  SLIM_ASSIGN(VerbsQueuePair pair, VerbsQueuePair::Make(*parameters.device, parameters.shape));
  SLIM_TRY(pair.Connect(request.address));
  return pair;
}

}  // namespace slimgraph
