#include "slimgraph/fabric/host_cache.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/local_sockets.h"
#include "slimgraph/base/passed_files.h"
#include "slimgraph/base/sockets.h"

namespace slimgraph {
namespace {

constexpr std::chrono::seconds kUntilItAccepts{5};
constexpr std::chrono::seconds kUntilLost{5};
constexpr std::uint64_t kUntilLostNs = std::chrono::nanoseconds(kUntilLost).count();

}  // namespace

std::unique_ptr<HostCache> HostCache::Connect(const std::string& name, NodeId first_lender) {
  UniqueFd agent = ConnectLocally(name);
  if (!agent || PeerOfThisUser(agent.get()) == 0) return nullptr;
  if (!AwaitReadable(agent.get(), kUntilItAccepts)) return nullptr;
  auto passed = ReceiveFiles(agent.get());
  if (!passed || !*passed || (*passed)->files.size() != 1) return nullptr;
  auto memory = HostCacheMemory::Adopt(std::move((*passed)->files[0]));
  auto stop = Event::Make();
  if (!memory || !stop) return nullptr;
  LimitSending(agent.get(), kUntilLost);
  return std::unique_ptr<HostCache>(
      new HostCache(std::move(agent), *std::move(memory), *std::move(stop), first_lender));
}

HostCache::HostCache(UniqueFd agent, std::unique_ptr<HostCacheMemory> memory, Event stop,
                     NodeId first_lender)
    : agent_(std::move(agent)),
      memory_(std::move(memory)),
      stop_(std::move(stop)),
      first_lender_(first_lender),
      memory_of_region_(kMaxRegions) {
  for (auto& one : memory_of_region_) one.store(kUnknown, std::memory_order_relaxed);
  listener_ = Thread([this] { Listen(); });
}

HostCache::~HostCache() {
  stop_.Set();
  listener_.join();
}

void HostCache::Add(RegionId region, std::size_t memory,
                    std::span<const std::uint64_t> bytes_of_node) {
  if (memory >= memory_->memories()) return;
  if (bytes_of_node.size() != first_lender_ + memory_->lenders()) return;
  for (std::size_t lender = 0; lender < memory_->lenders(); ++lender) {
    if (bytes_of_node[first_lender_ + lender] != memory_->bytes(lender, memory)) return;
  }
  memory_of_region_[region].store(static_cast<std::int32_t>(memory), std::memory_order_release);
}

std::int32_t HostCache::MemoryOf(const Operation& operation) const {
  if (operation.kind != OperationKind::kRead || operation.node < first_lender_) return kUnknown;
  if (operation.region >= kMaxRegions || operation.length == 0) return kUnknown;
  const auto memory = memory_of_region_[operation.region].load(std::memory_order_acquire);
  if (memory == kUnknown) return kUnknown;
  const std::uint64_t bytes =
      memory_->bytes(operation.node - first_lender_, static_cast<std::size_t>(memory));
  if (operation.offset > bytes || operation.length > bytes - operation.offset) return kUnknown;
  return memory;
}

HostCache::Reader::~Reader() {
  const std::lock_guard lock(cache_.mutex_);
  std::erase_if(cache_.asked_, [this](const auto& asked) { return asked.second.reader == this; });
}

bool HostCache::Reader::FindMissing(std::span<const Operation> operations) {
  missing_.clear();
  for (const Operation& operation : operations) {
    const std::int32_t memory = cache_.MemoryOf(operation);
    if (memory == kUnknown) {
      missing_.clear();
      return false;
    }
    const BlockRange range = HostCacheMemory::BlocksOf(static_cast<std::size_t>(memory),
                                                       operation.offset, operation.length);
    if (!cache_.memory_->Has(operation.node - cache_.first_lender_, range)) {
      missing_.push_back(range);
    }
  }
  return true;
}

bool HostCache::Reader::TryCopy(std::span<const Operation> operations) {
  if (!FindMissing(operations) || !missing_.empty()) return false;
  for (const Operation& operation : operations) {
    const auto memory = static_cast<std::size_t>(cache_.MemoryOf(operation));
    std::memcpy(operation.local,
                cache_.memory_->At(operation.node - cache_.first_lender_, memory, operation.offset),
                operation.length);
  }
  return true;
}

HostCache::Reader::Taken HostCache::Reader::Take(std::uint64_t id,
                                                 std::span<const Operation> operations) {
  if (TryCopy(operations)) return Taken::kHere;
  if (missing_.empty()) return Taken::kNo;
  const std::size_t lender = operations.front().node - cache_.first_lender_;
  return cache_.Ask(*this, id, lender) ? Taken::kAsked : Taken::kNo;
}

void HostCache::Reader::TakeAnswers(std::vector<Answer>& into) {
  const std::lock_guard lock(cache_.mutex_);
  into.clear();
  into.swap(answers_);
  has_answers_.store(false, std::memory_order_relaxed);
}

bool HostCache::Ask(Reader& reader, std::uint64_t id, std::size_t lender) {
  if (lost_.load(std::memory_order_relaxed) || memory_->full()) return false;
  CacheQuestion question{.lender = static_cast<std::uint32_t>(lender),
                         .ranges = static_cast<std::uint32_t>(reader.missing_.size())};
  {
    const std::lock_guard lock(mutex_);
    if (lost_) return false;
    question.number = ++last_number_;
    if (asked_.empty()) heard_ns_ = NowNs();
    asked_.emplace(question.number, Asked{&reader, id});
  }
  std::vector<std::byte>& message = reader.message_;
  const auto ranges = std::as_bytes(std::span(reader.missing_));
  message.resize(sizeof question + ranges.size());
  std::memcpy(message.data(), &question, sizeof question);
  std::memcpy(message.data() + sizeof question, ranges.data(), ranges.size());
  // Once the agent is lost, Lose() answers this question as well.
  if (SendBytes(agent_.get(), message) < 0) Lose();
  return true;
}

void HostCache::Listen() {
  std::array<pollfd, 2> waits{{{agent_.get(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
  while (true) {
    Poll(waits, kCacheSignOfLife);
    if (waits[1].revents != 0) return;
    CacheAnswer answer;
    ssize_t bytes = 0;
    const MutableBytes into = std::as_writable_bytes(std::span(&answer, 1));
    while ((bytes = ReceiveBytes(agent_.get(), into)) == sizeof answer) {
      Handle(answer);
    }
    bool silent = false;
    {
      const std::lock_guard lock(mutex_);
      silent = !asked_.empty() && NowNs() - heard_ns_ > kUntilLostNs;
    }
    if ((bytes < 0 && (errno == EAGAIN || errno == EINTR)) && !silent) continue;
    Lose();
    Poll(std::span(waits).subspan(1), kUntilWoken);
    return;
  }
}

void HostCache::Handle(const CacheAnswer& answer) {
  std::function<void()> wake;
  const std::lock_guard lock(mutex_);
  heard_ns_ = NowNs();
  const auto found = asked_.find(answer.number);
  if (found == asked_.end()) return;
  Reader& reader = *found->second.reader;
  reader.answers_.push_back({found->second.id, answer});
  reader.has_answers_.store(true, std::memory_order_release);
  asked_.erase(found);
  // While the mutex is held, the reader stays.
  reader.wake_();
}

void HostCache::Lose() {
  const std::lock_guard lock(mutex_);
  lost_ = true;
  for (const auto& [number, asked] : asked_) {
    asked.reader->answers_.push_back({asked.id, CacheAnswer{.number = number}});
    asked.reader->has_answers_.store(true, std::memory_order_release);
    asked.reader->wake_();
  }
  asked_.clear();
}

}  // namespace slimgraph
