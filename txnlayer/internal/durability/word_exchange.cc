#include "txnlayer/internal/durability/word_exchange.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kBytes = sizeof(std::uint64_t);

}  // namespace

Result<WordExchange> WordExchange::Make(Cluster& cluster, std::uint64_t words) {
  SLIM_ASSIGN(const SharedRegion outbox,
              cluster.fabric().Share(std::max<std::uint64_t>(words, 1) * kBytes));
  return WordExchange(cluster, outbox);
}

// The outbox has the parts one after the other. All nodes know the length of each.
Result<std::optional<std::vector<WordExchange::Words>>> WordExchange::Exchange(
    std::span<const Words> parts) {
  Words lengths;
  std::byte* at = outbox_.memory.data();
  for (const Words& part : parts) {
    const auto room =
        static_cast<std::uint64_t>(outbox_.memory.data() + outbox_.memory.size() - at);
    SLIM_CHECK(part.size() * kBytes <= room, "more words for other nodes than was announced");
    if (!part.empty()) std::memcpy(at, part.data(), part.size() * kBytes);
    at += part.size() * kBytes;
    lengths.push_back(part.size());
  }
  SLIM_ASSIGN(const auto all, cluster_.all().AllGather(std::as_bytes(std::span(lengths))));
  const NodeId self = cluster_.self();
  std::vector<Words> received(all.size());
  bool any = false;
  Endpoint& endpoint = cluster_.fabric().endpoint(0);
  for (NodeId node = 0; node < all.size(); ++node) {
    std::memcpy(lengths.data(), all[node].data(), all[node].size());
    any = any || std::any_of(lengths.begin(), lengths.end(), [](auto words) { return words > 0; });
    if (lengths[self] == 0) continue;
    std::uint64_t before = 0;
    for (NodeId other = 0; other < self; ++other) before += lengths[other];
    received[node].resize(lengths[self]);
    endpoint.Read(node, outbox_.id, before * kBytes,
                  std::as_writable_bytes(std::span(received[node])));
    if (const Outcome outcome = endpoint.Flush(); outcome != Outcome::kOk) {
      return EnvironmentError("reading the logs' records of node {}: {}", node,
                              OutcomeName(outcome));
    }
  }
  SLIM_TRY(cluster_.all().Barrier());  // all nodes have read
  if (any) return received;
  cluster_.fabric().Clear(outbox_.id);
  return std::nullopt;
}

}  // namespace slimgraph::txn
