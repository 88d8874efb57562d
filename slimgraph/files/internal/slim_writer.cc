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

Status SlimWriter::WriteSection(SectionKind kind, std::uint32_t element_bytes, Bytes bytes) {
  Begin(kind, element_bytes);
  SLIM_TRY(Append(bytes));
  return End();
}

Status SlimWriter::AppendIds(const OriginalIds& ids) {
  if (ids.contiguous()) return {};
  if (!ids.ascending()) version_ += kSlimAnyOrder;
  return WriteSection(SectionKind::kOriginalIds, sizeof(std::uint64_t),
                      std::as_bytes(std::span(ids.list())));
}

Status SlimWriter::AppendRanked(const RankedSections& ranked) {
  version_ += kSlimRanked;
  SLIM_TRY(WriteSection(SectionKind::kRanks, sizeof(VertexId),
                        std::as_bytes(std::span(ranked.dense_of))));
  SLIM_TRY(WriteSection(SectionKind::kRankedLengths, sizeof(RankedLength),
                        std::as_bytes(std::span(ranked.lengths))));
  return WriteSection(SectionKind::kRankedLists, 1, ranked.coded());
}

Result<std::uint64_t> SlimWriter::WriteEnds(SlimHeader header) {
  std::vector<std::uint64_t> table = checksums_;
  std::vector<SlimSection> sections = sections_;
  sections.push_back(
      {SectionKind::kChecksums, sizeof(std::uint64_t), end_, table.size() * sizeof(std::uint64_t)});
  table.resize(SlimPadded(table.size() * sizeof(std::uint64_t)) / sizeof(std::uint64_t));
  const Bytes table_bytes = std::as_bytes(std::span(table));
  SLIM_TRY(file_.WriteAt(end_, table_bytes));

  header.magic = kSlimMagic;
  header.version = version_;
  header.byte_order = kSlimByteOrder;
  header.checksums_checksum = XXH3_64bits(table_bytes.data(), table_bytes.size());
  SLIM_CHECK(sections.size() <= kSectionKinds);
  header.section_count = sections.size();
  std::copy(sections.begin(), sections.end(), header.sections.begin());

  std::vector<std::byte> page(kSlimPageBytes);
  std::memcpy(page.data(), &header, sizeof header);
  const std::uint64_t checksum = XXH3_64bits(page.data(), kSlimHeaderChecksumAt);
  std::memcpy(page.data() + kSlimHeaderChecksumAt, &checksum, sizeof checksum);
  SLIM_TRY(file_.WriteAt(0, page));
  return end_ + table_bytes.size();
}

Result<std::uint64_t> SlimWriter::Finish(SlimHeader header, Outlives outlives) {
  SLIM_ASSIGN(const std::uint64_t bytes, WriteEnds(header));
  SLIM_TRY(file_.Commit(outlives));
  return bytes;
}

Result<SlimFile> SlimWriter::Reread(SlimHeader header, const std::string& shown) {
  SLIM_TRY(WriteEnds(header));
  return SlimFile::Open(file_.PathToRead(), shown);
}

}  // namespace slimgraph::internal
