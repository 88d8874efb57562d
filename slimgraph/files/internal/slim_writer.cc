#include "slimgraph/files/internal/slim_writer.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"

namespace slimgraph::internal {

Result<SlimWriter> SlimWriter::Create(const std::string& path) {
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  SLIM_ASSIGN(PageBuffer block, PageBuffer::Allocate(kSlimBlockBytes));
  return SlimWriter(std::move(file), std::move(block));
}

void SlimWriter::Begin(SectionKind kind, std::uint32_t element_bytes) {
  sections_.push_back({kind, element_bytes, end_, 0});
}

Status SlimWriter::Append(Bytes bytes) {
  sections_.back().bytes += bytes.size();
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kSlimBlockBytes - filled_);
    std::memcpy(block_.data() + filled_, bytes.data(), part);
    filled_ += part;
    bytes = bytes.subspan(part);
    if (filled_ == kSlimBlockBytes) SLIM_TRY(Flush());
  }
  return {};
}

Status SlimWriter::Flush() {
  checksums_.push_back(XXH3_64bits(block_.data(), filled_));
  SLIM_TRY(file_.WriteAt(end_, Bytes(block_.data(), filled_)));
  end_ += filled_;
  filled_ = 0;
  return {};
}

Status SlimWriter::End() {
  const std::size_t padded = SlimPadded(filled_);
  std::memset(block_.data() + filled_, 0, padded - filled_);
  filled_ = padded;
  return filled_ == 0 ? Status() : Flush();
}

Status SlimWriter::AppendIds(const OriginalIds& ids) {
  if (ids.contiguous()) return {};
  if (!ids.ascending()) version_ = kSlimAnyOrderVersion;
  Begin(SectionKind::kOriginalIds, sizeof(std::uint64_t));
  SLIM_TRY(Append(std::as_bytes(std::span(ids.list()))));
  return End();
}

Result<std::uint64_t> SlimWriter::Finish(SlimHeader header, Outlives outlives) {
  std::vector<std::uint64_t> table = std::move(checksums_);
  sections_.push_back(
      {SectionKind::kChecksums, sizeof(std::uint64_t), end_, table.size() * sizeof(std::uint64_t)});
  table.resize(SlimPadded(table.size() * sizeof(std::uint64_t)) / sizeof(std::uint64_t));
  const Bytes table_bytes = std::as_bytes(std::span(table));
  SLIM_TRY(file_.WriteAt(end_, table_bytes));
  end_ += table_bytes.size();

  header.magic = kSlimMagic;
  header.version = version_;
  header.byte_order = kSlimByteOrder;
  header.checksums_checksum = XXH3_64bits(table_bytes.data(), table_bytes.size());
  SLIM_CHECK(sections_.size() <= kSectionKinds);
  header.section_count = sections_.size();
  std::copy(sections_.begin(), sections_.end(), header.sections.begin());

  std::vector<std::byte> page(kSlimPageBytes);
  std::memcpy(page.data(), &header, sizeof header);
  const std::uint64_t checksum = XXH3_64bits(page.data(), kSlimHeaderChecksumAt);
  std::memcpy(page.data() + kSlimHeaderChecksumAt, &checksum, sizeof checksum);
  SLIM_TRY(file_.WriteAt(0, page));
  SLIM_TRY(file_.Commit(outlives));
  return end_;
}

}  // namespace slimgraph::internal
