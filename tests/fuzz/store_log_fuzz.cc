// Logs of stores and of transactions: batches of any words, updates of any shape, records of any
// tables. The input is read as it is, and with matching checksums, as a faulty writer could leave.
#include "tests/fuzz/store_support.h"
#include "txnlayer/disk/internal/update_log.h"
#include "txnlayer/internal/store/record.h"

namespace slimgraph {
namespace {

void ReadUpdates(std::span<const std::uint64_t> words) {
  for (const txn::GraphShape& shape :
       {txn::GraphShape{}, {4, 3}, {256, 256, true}, {0, 8, true, WeightType::kFloat64}}) {
    txn::Update update;
    std::string text;
    for (auto rest = words; txn::TakeUpdate(shape, rest, update);) {
      text.clear();
      txn::AppendLine(shape, update, text);
      SLIM_CHECK(!text.empty() && text.back() == '\n');
    }
  }
}

void ReadRecords(std::span<const std::uint64_t> words) {
  static constexpr std::uint64_t kVersionWords[] = {2, 5, 1};
  if (!txn::AreRecords(words, kVersionWords)) return;
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < words.size(); at += 1 + words[at]) {
    txn::ForEachWrite(words.subspan(at + 1, words[at]),
                      [&](txn::TableId table, txn::Key key, const std::byte* version) {
                        SLIM_CHECK(table < std::size(kVersionWords));
                        std::vector<std::uint64_t> copy(kVersionWords[table]);
                        std::memcpy(copy.data(), version, copy.size() * sizeof copy[0]);
                        sum += key + copy.back();
                      });
  }
  [[maybe_unused]] static volatile std::uint64_t seen;
  seen = sum;
}

}  // namespace
}  // namespace slimgraph

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  const std::string path = fuzz::Folder() + "/log";
  std::vector<std::uint8_t> file(data, data + size);
  for (const bool make_right : {false, true}) {
    if (make_right) fuzz::MakeBatchesRight(file);
    fuzz::WriteFile(path, file);
    const auto log = txn::UpdateLogReader::Open(path);
    if (!log) {
      SLIM_CHECK(!log.error().message.empty());
      continue;
    }
    for (const txn::Batch& batch : log->batches()) {
      ReadUpdates(batch.words);
      ReadRecords(batch.words);
    }
    // A writer can append behind the whole batches.
    const auto writer = txn::UpdateLogWriter::Open(path, log->whole_bytes());
    SLIM_CHECK(writer.has_value());
  }
  // The input as records alone, without a log around them.
  std::vector<std::uint64_t> words(size / 8);
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * 8);
  ReadRecords(words);
  return 0;
}
