#include "txnlayer/internal/stages/port.h"

#include <array>

namespace slimgraph::txn {

void Port::KeepHere(const Access& access, const OldVersions& all, std::uint64_t bytes) {
  constexpr std::uint64_t kMostBytes =
      (kKeptHeader + 2) * kWordBytes + kMaxRecordBytes + kWordBytes;
  alignas(kWordBytes) std::array<std::byte, kMostBytes> own;
  const KeptVersion kept{own.data()};
  const Table& table = *access.table;
  std::byte* const tuple = access.memory() + access.offset;
  LoadWords(kept.image(), tuple + table.key_at(), table.image_bytes());
  kept.Seal(bytes, WordAt(tuple + table.time_at(TimeWord::kWritten)).load(),
            WordAt(tuple + table.time_at(TimeWord::kOlder)).load(), access.kept_at);
  StoreWords(all.memory() + access.kept_at, own.data(), bytes);
}

}  // namespace slimgraph::txn
