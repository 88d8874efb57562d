// A transaction's log record, as 64-bit words: the timestamp and the number of writes, then for
// each write the key, the table, the length and the version.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "txnlayer/internal/store/table.h"
#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

using Record = std::vector<std::uint64_t>;

inline void BeginRecord(Record& record, Timestamp timestamp) { record = {timestamp, 0}; }

inline void AddWrite(Record& record, const Table& table, Key key, const std::byte* version) {
  const std::uint64_t words = table.version_bytes() / kWordBytes;
  ++record[1];
  record.push_back(key);
  record.push_back(std::uint64_t{table.id()} << 32 | words);
  record.resize(record.size() + words);
  std::memcpy(&record[record.size() - words], version, words * kWordBytes);
}

// Whether `words` are whole records, each preceded by its length. `version_words` is the length of
// a version in each table. What is read from a disk may come from another program, so nothing is
// assumed.
inline bool AreRecords(std::span<const std::uint64_t> words,
                       std::span<const std::uint64_t> version_words) {
  while (!words.empty()) {
    if (words[0] < 2 || words[0] > words.size() - 1) return false;
    std::span<const std::uint64_t> record = words.subspan(1, words[0]);
    words = words.subspan(1 + words[0]);
    std::uint64_t writes = record[1];
    for (record = record.subspan(2); writes > 0; --writes) {
      if (record.size() < 2) return false;
      const std::uint64_t table = record[1] >> 32;
      const auto length = static_cast<std::uint32_t>(record[1]);
      if (table >= version_words.size() || length != version_words[table]) return false;
      if (length > record.size() - 2) return false;
      record = record.subspan(2 + length);
    }
    if (!record.empty()) return false;
  }
  return true;
}

// Calls visit(TableId, Key, const std::byte* version) for each write.
template <typename Visit>
void ForEachWrite(std::span<const std::uint64_t> record, Visit visit) {
  const std::uint64_t* at = record.data() + 2;
  for (std::uint64_t i = 0; i < record[1]; ++i) {
    const auto words = static_cast<std::uint32_t>(at[1]);
    visit(static_cast<TableId>(at[1] >> 32), at[0], reinterpret_cast<const std::byte*>(at + 2));
    at += 2 + words;
  }
}

}  // namespace slimgraph::txn
