// What a transaction has written, as the words of a log's record: when it was, how many writes; for
// each, key, table and length, and the version.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "txnlayer/store/table.h"
#include "txnlayer/timestamp.h"

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

// look(TableId, Key, const std::byte* version) for each write.
template <typename Look>
void ForEachWrite(std::span<const std::uint64_t> record, Look look) {
  const std::uint64_t* at = record.data() + 2;
  for (std::uint64_t i = 0; i < record[1]; ++i) {
    const auto words = static_cast<std::uint32_t>(at[1]);
    look(static_cast<TableId>(at[1] >> 32), at[0], reinterpret_cast<const std::byte*>(at + 2));
    at += 2 + words;
  }
}

}  // namespace slimgraph::txn
