#include "txnlayer/disk/batch_log.h"

#include <xxhash.h>

#include <cstring>

#include "slimgraph/base/file_io.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kBatchMagic = 0x4843544142'4D4C53;  // "SLMBATCH"

struct BatchHeader {
  std::uint64_t magic;
  std::uint64_t words;
  BatchLabel label;
  std::uint64_t words_checksum;
  std::uint64_t header_checksum;  // of the fields before
};
static_assert(sizeof(BatchHeader) == 7 * kBytes);

std::uint64_t ChecksumOf(const BatchHeader& header) {
  return XXH3_64bits(&header, offsetof(BatchHeader, header_checksum));
}

}  // namespace

Result<BatchLogReader> BatchLogReader::Open(const std::string& path,
                                            const std::function<bool(const BatchLabel&)>& last) {
  SLIM_ASSIGN(MappedFile file, MappedFile::Open(path));
  BatchLogReader reader(std::move(file));
  SLIM_TRY(reader.Read(path, last));
  return reader;
}

BatchLogReader BatchLogReader::OfBatch(const BatchLabel& label, std::vector<std::uint64_t> words) {
  BatchLogReader reader{MappedFile()};
  reader.own_words_ = std::move(words);
  reader.batches_.push_back({label, 0, reader.own_words_});
  return reader;
}

Status BatchLogReader::Read(const std::string& path,
                            const std::function<bool(const BatchLabel&)>& last) {
  const Bytes bytes = file_.bytes();
  while (bytes.size() - whole_bytes_ >= sizeof(BatchHeader)) {
    BatchHeader header;
    std::memcpy(&header, bytes.data() + whole_bytes_, sizeof header);
    const bool known = header.magic == kBatchMagic && header.header_checksum == ChecksumOf(header);
    if (!known) {
      // An incomplete end has no whole batch after it.
      for (std::uint64_t at = whole_bytes_; at + sizeof header <= bytes.size(); at += kBytes) {
        std::memcpy(&header, bytes.data() + at, sizeof header);
        if (header.magic != kBatchMagic || header.header_checksum != ChecksumOf(header)) continue;
        return InputError("{}: the batch at byte {} is damaged", path, whole_bytes_);
      }
      break;
    }
    const std::uint64_t room = bytes.size() - whole_bytes_ - sizeof header;
    if (header.words > room / kBytes) break;
    const std::uint64_t begin = whole_bytes_ + sizeof header;
    const std::uint64_t end = begin + header.words * kBytes;
    if (XXH3_64bits(bytes.data() + begin, header.words * kBytes) != header.words_checksum) {
      if (end == bytes.size()) break;
      return InputError("{}: the batch at byte {} is damaged", path, whole_bytes_);
    }
    const auto* const words = reinterpret_cast<const std::uint64_t*>(bytes.data() + begin);
    batches_.push_back({header.label, begin / kBytes, {words, header.words}});
    whole_bytes_ = end;
    if (last && last(header.label)) break;
  }
  return {};
}

Status BatchLogReader::MakeDurable(const std::string& path) const {
  if (batches_.empty()) return {};
  const std::uint64_t begin = batches_.back().position * kBytes - sizeof(BatchHeader);
  const Bytes last = file_.bytes().subspan(begin, whole_bytes_ - begin);
  const std::vector<std::byte> copy(last.begin(), last.end());
  SLIM_ASSIGN(const OutputFile file, OutputFile::Open(path));
  SLIM_TRY(file.WriteAt(begin, copy));
  return file.Sync();
}

Result<BatchLogWriter> BatchLogWriter::Open(const std::string& path, std::uint64_t whole_bytes) {
  IgnoreFileSizeSignal();
  SLIM_ASSIGN(OutputFile file, OutputFile::Open(path));
  SLIM_ASSIGN(const std::uint64_t bytes, file.Size());
  // The cut is durable before a batch is written there. Otherwise a power cut could leave a part of
  // the new batch and the old end behind it, which would look like a damaged batch.
  if (bytes != whole_bytes) {
    SLIM_TRY(file.Truncate(whole_bytes));
    SLIM_TRY(file.Sync());
  }
  // Also if the file exists: its creator may have been killed before the name was durable.
  SLIM_TRY(SyncPath(FolderOf(path)));
  return BatchLogWriter(std::move(file), whole_bytes);
}

Status BatchLogWriter::Append(const BatchLabel& label, std::span<const std::uint64_t> words) {
  BatchHeader header{kBatchMagic, words.size(), label, 0, 0};
  header.words_checksum = XXH3_64bits(words.data(), words.size_bytes());
  header.header_checksum = ChecksumOf(header);
  for (const Bytes bytes : {std::as_bytes(std::span(&header, 1)), std::as_bytes(words)}) {
    SLIM_TRY(file_.WriteAt(end_, bytes));
    end_ += bytes.size();
  }
  return file_.Sync();
}

}  // namespace slimgraph::txn
