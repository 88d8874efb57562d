#include "slimgraph/fabric/host_cache_memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "slimgraph/base/check.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kMagic = 0x31656863'61634753;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kWordBits = 64;

std::uint64_t RoundUp(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

std::uint64_t BlocksIn(std::uint64_t bytes) {
  return (bytes + HostCacheMemory::kBlockBytes - 1) / HostCacheMemory::kBlockBytes;
}

// The bits of word `word` that belong to the blocks first .. end-1.
std::uint64_t BitsIn(std::uint64_t word, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t begin = word * kWordBits;
  std::uint64_t bits = ~std::uint64_t{0};
  if (first > begin) bits &= ~std::uint64_t{0} << (first - begin);
  if (end < begin + kWordBits) bits &= ~(~std::uint64_t{0} << (end - begin));
  return bits;
}

}  // namespace

Result<std::unique_ptr<HostCacheMemory>> HostCacheMemory::Make(
    const std::vector<std::vector<std::uint64_t>>& sizes) {
  std::vector<std::uint64_t> flat;
  for (const auto& of_lender : sizes) flat.insert(flat.end(), of_lender.begin(), of_lender.end());
  const std::size_t memories = sizes.empty() ? 0 : sizes[0].size();
  SLIM_CHECK(flat.size() == sizes.size() * memories);
  std::unique_ptr<HostCacheMemory> made(new HostCacheMemory(nullptr));
  const std::uint64_t bytes = made->LayOut(sizes.size(), memories, flat, nullptr);
  SLIM_ASSIGN(made->shared_, SharedMemory::Create(bytes));
  std::byte* const base = made->shared_->base();
  // A page is taken for each block that comes, not two megabytes.
  ::madvise(base, bytes, MADV_NOHUGEPAGE);
  made->LayOut(sizes.size(), memories, flat, base);
  Header& header = made->header();
  header.magic = kMagic;
  header.lenders = sizes.size();
  header.memories = memories;
  std::copy(flat.begin(), flat.end(), reinterpret_cast<std::uint64_t*>(base + sizeof(Header)));
  SLIM_TRY(made->shared_->Seal());
  return made;
}

Result<std::unique_ptr<HostCacheMemory>> HostCacheMemory::Adopt(UniqueFd fd) {
  SLIM_ASSIGN(auto shared, SharedMemory::Adopt(std::move(fd)));
  std::unique_ptr<HostCacheMemory> made(new HostCacheMemory(std::move(shared)));
  const SharedMemory& memory = *made->shared_;
  const auto not_one = [] { return EnvironmentError("the memory of a host's cache is none"); };
  if (memory.bytes() < sizeof(Header) || made->header().magic != kMagic) return not_one();
  const Header& header = made->header();
  const std::uint64_t room = (memory.bytes() - sizeof(Header)) / sizeof(std::uint64_t);
  if (header.lenders > kMaxNodes || header.memories > room ||
      header.lenders * header.memories > room) {
    return not_one();
  }
  const std::span<const std::uint64_t> sizes(
      reinterpret_cast<const std::uint64_t*>(memory.base() + sizeof(Header)),
      header.lenders * header.memories);
  const std::uint64_t needed = made->LayOut(header.lenders, header.memories, sizes, memory.base());
  if (needed != memory.bytes()) return not_one();
  return made;
}

std::uint64_t HostCacheMemory::LayOut(std::size_t lenders, std::size_t memories,
                                      std::span<const std::uint64_t> sizes, std::byte* base) {
  lenders_ = lenders;
  memories_ = memories;
  all_.assign(sizes.size(), {});
  std::uint64_t at = sizeof(Header) + sizes.size_bytes();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    all_[i].bytes = sizes[i];
    all_[i].there = reinterpret_cast<std::atomic<std::uint64_t>*>(base + at);
    at += RoundUp(BlocksIn(sizes[i]), kWordBits) / 8;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    at = RoundUp(at, kPage);
    all_[i].data = base + at;
    at += RoundUp(sizes[i], kBlockBytes);
  }
  return at;
}

bool HostCacheMemory::Has(std::size_t lender, const BlockRange& range) const {
  const auto* const there = Find(lender, range.memory).there;
  const std::uint64_t end = range.first + range.blocks;
  for (std::uint64_t word = range.first / kWordBits; word * kWordBits < end; ++word) {
    const std::uint64_t bits = BitsIn(word, range.first, end);
    if ((there[word].load(std::memory_order_acquire) & bits) != bits) return false;
  }
  return true;
}

MutableBytes HostCacheMemory::Space(std::size_t lender, const BlockRange& range) const {
  const Memory& memory = Find(lender, range.memory);
  const std::uint64_t begin = range.first * kBlockBytes;
  const std::uint64_t end = std::min((range.first + range.blocks) * kBlockBytes, memory.bytes);
  return {memory.data + begin, end - begin};
}

void HostCacheMemory::Publish(std::size_t lender, const BlockRange& range) {
  auto* const there = Find(lender, range.memory).there;
  const std::uint64_t end = range.first + range.blocks;
  for (std::uint64_t word = range.first / kWordBits; word * kWordBits < end; ++word) {
    there[word].fetch_or(BitsIn(word, range.first, end), std::memory_order_release);
  }
}

}  // namespace slimgraph
