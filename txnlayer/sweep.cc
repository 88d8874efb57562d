// A table that is full is swept: tuples without a record, of keys that have been deleted or were
// only looked for, are taken away, in the tables of all nodes and their copies, between two rounds
// (rounds.cc). So no transaction sees it, and nobody knows of a location any more. A transaction
// that finds no place asks node 0 for it, which tells all threads.
//
// A key's next tuple does not begin before the last: its writes are counted on from the largest
// count that was taken away, so that in logs, on disk and at backups, the last version stays the
// largest; and Protocol::Inherit keeps the order of timestamps.
#include <algorithm>
#include <cstring>

#include "txnlayer/engine_thread.h"

namespace slimgraph::txn {
namespace {

// A number of a sweep, counted from 1: to endpoint 0 of node 0, that it is wanted; to all, that it
// will be.
constexpr HandlerId kWantedHandler = 0x7A04;
constexpr HandlerId kComingHandler = 0x7A05;

std::uint32_t NumberIn(const Message& message) {
  std::uint32_t number;
  std::memcpy(&number, message.body.data(), sizeof number);
  return number;
}

}  // namespace

void Engine::HearOfSweeps() {
  Fabric& fabric = cluster_.fabric();
  fabric.SetHandler(kWantedHandler, [this](Endpoint& endpoint, const Message& message) {
    const std::uint32_t number = NumberIn(message);
    if (number != sweeps_wanted_ + 1) return;  // another has asked for the same
    sweeps_wanted_ = number;
    for (NodeId node = 0; node < cluster_.topology().nodes(); ++node) {
      for (std::uint32_t thread = 0; thread < cluster_.threads(); ++thread) {
        endpoint.Send({node, thread}, kComingHandler, message.body);
      }
    }
  });
  fabric.SetHandler(kComingHandler, [this](Endpoint&, const Message& message) {
    sweeps_wanted_ = NumberIn(message);
  });
}

void Engine::WantSweep(Thread& thread) {
  const std::uint32_t number = sweeps_done_ + 1;
  thread.worker.endpoint().Send({0, 0}, kWantedHandler, std::as_bytes(std::span(&number, 1)));
}

Status Engine::Sweep() {
  std::uint64_t gone = 0;
  SLIM_TRY(Quiesce());
  if (replication_) replication_->TakeInAll();
  {
    // Snapshots and folds look through tables; no transaction keeps them from coming to an end.
    const std::lock_guard lock(places_);
    for (const auto& table : tables_) {
      for (Rank rank = 0; rank < options_.replicas; ++rank) gone += SweepPart(*table, rank);
    }
  }
  swept_ += gone;
  for (const auto& thread : threads_) {
    thread->cache.Clear();
    thread->log.Settle();
  }
  SLIM_ASSIGN(gone, cluster_.all().AllSum(gone));
  if (gone == 0) return tl::unexpected(TableIsFull());
  sweeps_done_ = sweeps_at_stop_.load();
  return {};
}

std::uint64_t Engine::SweepPart(Table& table, Rank rank) {
  const auto word_of = [&](const std::byte* tuple) {
    const auto* const metadata = reinterpret_cast<const std::uint64_t*>(tuple);
    std::uint64_t word;
    std::memcpy(&word, tuple + table.version_at(protocol_.Latest(metadata)), sizeof word);
    return word;
  };
  std::uint64_t fresh[kMaxMetadataWords];
  std::copy_n(table.fresh(rank), kMaxMetadataWords, fresh);
  std::uint64_t fresh_word = table.fresh_word(rank);
  for (std::uint64_t i = 0; i < table.tuples(rank); ++i) {
    const std::byte* const tuple = table.memory(rank) + table.TupleOffset(i);
    const std::uint64_t word = word_of(tuple);
    if ((word & kExistsBit) != 0) continue;
    fresh_word = std::max(fresh_word, word);
    protocol_.Inherit(reinterpret_cast<const std::uint64_t*>(tuple), fresh);
  }
  const auto keep = [&](const std::byte* tuple) { return (word_of(tuple) & kExistsBit) != 0; };
  return table.Sweep(rank, keep, fresh, fresh_word);
}

Error TableIsFull() {
  return {ErrorKind::kInput, "a table is full: fewer inserts, or more tuples per node, are needed"};
}

}  // namespace slimgraph::txn
