#include "txnlayer/internal/stages/port.h"

#include <array>

namespace slimgraph::txn {

void Port::KeepHere(const Access& access, const OldVersions& all, std::uint64_t bytes,
                    const ReplacedVersion* version) {
  constexpr std::uint64_t kMostBytes =
      (kKeptHeader + 2) * kWordBytes + kMaxRecordBytes + kWordBytes;
  alignas(kWordBytes) std::array<std::byte, kMostBytes> own;
  const KeptVersion kept{own.data()};
  const Table& table = *access.table;
  std::byte* const tuple = access.memory() + access.offset;
  ReplacedVersion replaced;
  if (version != nullptr) {
    replaced = *version;
  } else {
    replaced.written = WordAt(tuple + table.time_at(TimeWord::kWritten)).load();
    replaced.older = WordAt(tuple + table.time_at(TimeWord::kOlder)).load();
  }
  LoadWords(kept.image(), tuple + table.key_at(), kWordBytes);
  LoadWords(kept.image() + kWordBytes, tuple + table.version_at(replaced.place),
            table.version_bytes());
  kept.Seal(bytes, replaced.written, replaced.older, access.kept_as());
  StoreWords(all.memory() + access.kept_at, own.data(), bytes);
}

}  // namespace slimgraph::txn
