// Reads of memory that stands on other nodes, from a cache that all jobs of this host share. A
// process of its own, the agent, fetches what is missing: it alone can change the cache. If it does
// not answer or has no room, the job reads from the nodes themselves, as without a cache.
//
// The last nodes of the job, its lenders, have the standing memory. Messages to the agent are a
// CacheQuestion and its ranges; it first sends the cache's memory, then CacheAnswers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "slimgraph/base/poller.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/host_cache_memory.h"
#include "slimgraph/fabric/operation.h"

namespace slimgraph {

struct CacheQuestion {
  std::uint64_t number = 0;  // from 1 on
  std::uint32_t lender = 0;
  std::uint32_t ranges = 0;  // BlockRanges that follow
};
constexpr std::uint32_t kMaxCacheRanges = kMaxPartOperations;

struct CacheAnswer {
  std::uint64_t number = 0;  // of the question; 0: the agent is still there
  std::uint64_t bytes = 0;   // that it has read from the lender for this question, in `reads`
  std::uint32_t reads = 0;   // operations
  std::uint32_t served = 0;  // 1: all ranges are there
};

// How often the agent says that it is there, while it owes an answer.
constexpr std::chrono::seconds kCacheSignOfLife{1};

class HostCache {
 public:
  // Null if no agent of this user answers there.
  static std::unique_ptr<HostCache> Connect(const std::string& name, NodeId first_lender);
  ~HostCache();
  HostCache(const HostCache&) = delete;
  HostCache& operator=(const HostCache&) = delete;

  // Region `region` of each lender is its standing memory `memory`. Ignored if the agent knows
  // another memory.
  void Add(RegionId region, std::size_t memory, std::span<const std::uint64_t> bytes_of_node);

  // One endpoint's questions, and what was answered. The answers are for its thread.
  class Reader {
   public:
    struct Answer {
      std::uint64_t id = 0;
      CacheAnswer answer;
    };
    // `wake` is called on another thread when there is an answer.
    Reader(HostCache& cache, std::function<void()> wake) : cache_(cache), wake_(std::move(wake)) {}
    ~Reader();

    // kHere: these operations are done. kAsked: an answer for `id` will come. kNo: they are not for
    // the cache.
    enum class Taken { kHere, kAsked, kNo };
    Taken Take(std::uint64_t id, std::span<const Operation> operations);
    // Does the operations if all of their bytes are there.
    bool TryCopy(std::span<const Operation> operations);
    bool has_answers() const { return has_answers_.load(std::memory_order_acquire); }
    void TakeAnswers(std::vector<Answer>& into);

   private:
    friend class HostCache;
    HostCache& cache_;
    std::function<void()> wake_;
    std::atomic<bool> has_answers_{false};
    std::vector<Answer> answers_;  // guarded by HostCache::mutex_
    // Finds the ranges that are not there. False: the operations are not for the cache.
    bool FindMissing(std::span<const Operation> operations);
    std::vector<BlockRange> missing_;
    std::vector<std::byte> message_;
  };

 private:
  struct Asked {
    Reader* reader;
    std::uint64_t id;
  };
  static constexpr std::int32_t kUnknown = -1;
  HostCache(UniqueFd agent, std::unique_ptr<HostCacheMemory> memory, Event stop,
            NodeId first_lender);
  // The memory that a region of lenders is; kUnknown: none that the agent knows.
  std::int32_t MemoryOf(const Operation& operation) const;
  bool Ask(Reader& reader, std::uint64_t id, std::size_t lender);
  void Listen();
  void Handle(const CacheAnswer& answer);
  // The agent does not answer any more.
  void Lose();

  UniqueFd agent_;
  std::unique_ptr<HostCacheMemory> memory_;
  Event stop_;
  NodeId first_lender_;
  std::vector<std::atomic<std::int32_t>> memory_of_region_;
  std::atomic<bool> lost_{false};
  Mutex mutex_;
  // Guarded by mutex_.
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, Asked> asked_;
  std::uint64_t heard_ns_ = 0;  // or when it began to owe an answer
  Thread listener_;
};

}  // namespace slimgraph
