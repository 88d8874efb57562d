#include "slimgraph/files/slim_file.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>

#include "slimgraph/base/check.h"
#include "slimgraph/base/parallel.h"
#include "slimgraph/base/sync.h"

namespace slimgraph {
namespace {

std::uint64_t BytesOfBlock(const SlimSection& section, std::uint64_t block) {
  return std::min(kSlimBlockBytes, SlimPadded(section.bytes) - block * kSlimBlockBytes);
}

template <typename T>
std::span<const T> As(Bytes bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Compares them as signed numbers, since SSE2 compares four of those at once.
bool AllBelow(std::span<const VertexId> ids, std::uint64_t limit) {
  if (limit == 0 || limit > UINT32_MAX) return limit != 0 || ids.empty();
  constexpr VertexId kSign = VertexId{1} << 31;
  const auto last = static_cast<std::int32_t>((static_cast<VertexId>(limit) - 1) ^ kSign);
  std::int32_t above = 0;
#pragma GCC unroll 8
  for (const VertexId id : ids) above |= -(static_cast<std::int32_t>(id ^ kSign) > last);
  return above == 0;
}

std::span<const SlimSection> Sections(const SlimHeader& header) {
  return std::span(header.sections).first(header.section_count);
}

}  // namespace

Result<SlimFile> SlimFile::Open(const std::string& path, const std::string& shown) {
  SlimFile file;
  file.path_ = shown.empty() ? path : shown;
  SLIM_ASSIGN(file.fd_, OpenForReading(path));
  SLIM_ASSIGN(file.file_bytes_, FileSize(file.fd_, path));
  SLIM_TRY(file.ReadHeader());
  SLIM_TRY(file.CheckSections());
  SLIM_TRY(file.ReadChecksums());
  return file;
}

Status SlimFile::ReadHeader() {
  std::array<std::byte, kSlimPageBytes> page = {};
  SLIM_ASSIGN(const std::size_t got, ReadAt(fd_, path_, 0, page));
  std::memcpy(&header_, page.data(), sizeof header_);
  if (got < sizeof header_.magic || header_.magic != kSlimMagic) {
    return InputError("{}: this is not a .slim file; `slimgraph convert` makes one", path_);
  }
  if (got < page.size()) {
    return InputError("{}: truncated: it ends at byte {}, within its header", path_, got);
  }
  if (header_.byte_order != kSlimByteOrder) {
    return InputError("{}: damaged, or written on a machine of the other byte order", path_);
  }
  if (header_.version < kSlimVersion || header_.version > kSlimLastVersion) {
    return InputError("{}: damaged, or of version {}; this slimgraph reads versions {} to {}",
                      path_, header_.version, kSlimVersion, kSlimLastVersion);
  }
  std::uint64_t stored = 0;
  std::memcpy(&stored, page.data() + kSlimHeaderChecksumAt, sizeof stored);
  if (XXH3_64bits(page.data(), kSlimHeaderChecksumAt) != stored) {
    return InputError("{}: damaged: the header does not match its checksum", path_);
  }
  return {};
}

// A matching checksum shows only that the header is as it was written. This function checks that
// its values are consistent.
Status SlimFile::CheckSections() const {
  const auto wrong = [&](std::string_view what) {
    return InputError("{}: damaged: the header is wrong about its {}", path_, what);
  };
  const SlimHeader& h = header_;
  if (h.vertices > kMaxVertices || h.arcs > kMaxArcs || h.edges > h.arcs) return wrong("counts");
  if (h.section_count > kSectionKinds) return wrong("sections");
  if (h.weight_type > WeightType::kFloat64) return wrong("weights");
  const std::uint64_t weight_bytes = WeightBytes(h.weight_type);
  const std::array<std::uint64_t, kSectionKinds> element_bytes = {
      0, 8, 4, weight_bytes, 8, 4, weight_bytes, 8, 8, 4, sizeof(RankedLength), 1};
  const std::array<std::uint64_t, kSectionKinds> elements = {
      0,      h.vertices + 1, h.arcs, h.arcs,     h.vertices + 1, h.arcs,
      h.arcs, h.vertices,     0,      h.vertices, h.vertices,     0};
  std::array<bool, kSectionKinds> seen = {};
  std::uint64_t end = kSlimPageBytes;
  std::uint64_t blocks = 0;
  for (const SlimSection& s : Sections(h)) {
    const auto kind = static_cast<std::size_t>(s.kind);
    if (kind == 0 || kind >= kSectionKinds || seen[kind] || s.offset != end)
      return wrong("sections");
    seen[kind] = true;
    const bool last = &s == &Sections(h).back();
    if (last != (s.kind == SectionKind::kChecksums)) return wrong("sections");
    const std::uint64_t count = last ? blocks : elements[kind];
    if (s.element_bytes != element_bytes[kind] || s.bytes > file_bytes_ ||
        (s.kind != SectionKind::kRankedLists && s.bytes != count * s.element_bytes)) {
      return wrong("sections");
    }
    blocks += SlimBlocks(s.bytes);
    end += SlimPadded(s.bytes);
  }
  const bool weighted = h.weight_type != WeightType::kNone;
  const bool in_lists = seen[4];
  const bool ranked = seen[9];
  if (!seen[1] || !seen[2] || !seen[8] || seen[3] != weighted || seen[5] != in_lists ||
      seen[6] != (in_lists && weighted) || (in_lists && !directed()) || seen[10] != ranked ||
      seen[11] != ranked || (ranked && directed()) ||
      ranked != (((h.version - kSlimVersion) & kSlimRanked) != 0)) {
    return wrong("sections");
  }
  if (end != file_bytes_) {
    return InputError("{}: {}: it should have {} bytes and has {}", path_,
                      file_bytes_ < end ? "truncated" : "damaged", end, file_bytes_);
  }
  return {};
}

Status SlimFile::ReadChecksums() {
  const SlimSection& table = *section(SectionKind::kChecksums);
  checksums_.resize(SlimPadded(table.bytes) / sizeof(std::uint64_t));
  SLIM_TRY(ReadExactlyAt(fd_, path_, table.offset, std::as_writable_bytes(std::span(checksums_))));
  if (XXH3_64bits(checksums_.data(), SlimPadded(table.bytes)) != header_.checksums_checksum) {
    return InputError("{}: damaged: the table of checksums does not match its checksum", path_);
  }
  std::uint64_t first = 0;
  for (const SlimSection& s : Sections(header_)) {
    first_checksum_[static_cast<std::size_t>(s.kind)] = first;
    first += SlimBlocks(s.bytes);
  }
  return {};
}

const SlimSection* SlimFile::section(SectionKind kind) const {
  for (const SlimSection& s : Sections(header_)) {
    if (s.kind == kind) return &s;
  }
  return nullptr;
}

std::uint64_t SlimFile::section_bytes(SectionKind kind) const {
  const SlimSection* s = section(kind);
  return s == nullptr ? 0 : s->bytes;
}

// Reads bytes [skip, skip + into.size()) of the block. To verify the checksum, a partial read first
// reads the whole block into a copy.
Status SlimFile::ReadBlock(const SlimSection& s, std::uint64_t block, std::uint64_t skip,
                           MutableBytes into) const {
  const std::uint64_t bytes = BytesOfBlock(s, block);
  const bool whole = into.size() == bytes;
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(whole ? 0 : bytes);
  const MutableBytes verified = whole ? into : MutableBytes(copy.get(), bytes);
  const std::uint64_t at = s.offset + block * kSlimBlockBytes;
  SLIM_TRY(ReadExactlyAt(fd_, path_, at, verified));
  if (XXH3_64bits(verified.data(), bytes) !=
      checksums_[first_checksum_[static_cast<std::size_t>(s.kind)] + block]) {
    return InputError("{}: damaged: bytes {} to {} do not match their checksum", path_, at,
                      at + bytes - 1);
  }
  const std::uint64_t first_byte = block * kSlimBlockBytes;
  SLIM_TRY(CheckValues(s.kind, first_byte, verified.first(std::min(bytes, s.bytes - first_byte))));
  if (!whole && !into.empty()) std::memcpy(into.data(), copy.get() + skip, into.size());
  return {};
}

Status SlimFile::Read(SectionKind kind, std::uint64_t first_byte, MutableBytes into,
                      std::size_t threads) const {
  const SlimSection* s = section(kind);
  SLIM_CHECK(s != nullptr, "{} has no section {}", path_, static_cast<int>(kind));
  SLIM_CHECK(first_byte <= s->bytes && into.size() <= s->bytes - first_byte);
  if (into.empty()) return {};
  const std::uint64_t first = first_byte / kSlimBlockBytes;
  const std::uint64_t last = (first_byte + into.size() - 1) / kSlimBlockBytes;
  const Status read = ParallelFor(last - first + 1, threads, [&](std::size_t i) {
    const std::uint64_t begin = std::max(first_byte, (first + i) * kSlimBlockBytes);
    const std::uint64_t end = std::min(first_byte + into.size(), (first + i + 1) * kSlimBlockBytes);
    return ReadBlock(*s, first + i, begin % kSlimBlockBytes,
                     into.subspan(begin - first_byte, end - begin));
  });
  SLIM_TRY(read);
  // ReadBlock has checked offsets within each block; this checks them across block boundaries.
  for (std::uint64_t at = (first + 1) * kSlimBlockBytes; at < first_byte + into.size();
       at += kSlimBlockBytes) {
    const std::uint64_t before = std::min(at - first_byte, sizeof(EdgeOffset));
    const std::uint64_t behind = std::min(first_byte + into.size() - at, sizeof(EdgeOffset));
    SLIM_TRY(
        CheckValues(kind, at - before, into.subspan(at - before - first_byte, before + behind)));
  }
  return {};
}

// Matching checksums show only that the bytes are as they were written. This function checks that
// the values can belong to a graph.
Status SlimFile::CheckValues(SectionKind kind, std::uint64_t first_byte, Bytes values) const {
  if (kind == SectionKind::kOutNeighbours || kind == SectionKind::kInNeighbours ||
      kind == SectionKind::kRanks) {
    const auto ids = As<VertexId>(values);
    if (AllBelow(ids, vertices())) return {};
    return InputError(
        "{}: damaged: {} {}, but vertex ids must be below {}", path_,
        kind == SectionKind::kRanks ? "a rank is that of vertex" : "a list has neighbour",
        *std::ranges::max_element(ids), vertices());
  }
  if (kind == SectionKind::kOutOffsets || kind == SectionKind::kInOffsets) {
    const auto offsets = As<EdgeOffset>(values);
    bool falls = !offsets.empty() && offsets.back() > arcs();
    for (std::size_t i = 1; i < offsets.size(); ++i) falls |= offsets[i] < offsets[i - 1];
    if (!falls) return {};
    return InputError(
        "{}: damaged: the offsets of its lists fall, or exceed the number of arcs, "
        "after vertex {}",
        path_, first_byte / sizeof(EdgeOffset));
  }
  return {};
}

// Checks that offsets do not decrease from the previous block to this one.
Status SlimFile::CheckAcross(const SlimSection& s, std::uint64_t block) const {
  if (s.kind != SectionKind::kOutOffsets && s.kind != SectionKind::kInOffsets) return {};
  std::array<EdgeOffset, 2> both;
  return ReadElements(s.kind, block * kSlimBlockBytes / sizeof(EdgeOffset) - 1,
                      std::span<EdgeOffset>(both), 1);
}

Result<OriginalIds> SlimFile::ReadOriginalIds() const {
  if (!has(SectionKind::kOriginalIds)) return OriginalIds(header_.first_original_id, vertices());
  std::vector<std::uint64_t> ids(vertices());
  SLIM_TRY(ReadElements(SectionKind::kOriginalIds, 0, std::span(ids)));
  if (header_.ids_ascend()) return OriginalIds(std::move(ids));
  auto any_order = OriginalIds::InAnyOrder(std::move(ids));
  if (!any_order) return InputError("{}: damaged: two of its vertices have the same id", path_);
  return std::move(*any_order);
}

std::uint64_t SlimFile::original_id_bytes() const {
  if (!has(SectionKind::kOriginalIds)) return 0;
  return vertices() * (sizeof(std::uint64_t) + (header_.ids_ascend() ? 0 : sizeof(VertexId)));
}

Status SlimFile::CheckAll(const ProgressHook& progress) const {
  Mutex mutex;
  std::uint64_t done = 0;
  for (const SlimSection& s : Sections(header_)) {
    if (s.kind == SectionKind::kChecksums) continue;  // Open has verified it
    Status checked = ParallelFor(SlimBlocks(s.bytes), 0, [&](std::size_t block) -> Status {
      SLIM_TRY(ReadBlock(s, block, 0, {}));
      if (block > 0) SLIM_TRY(CheckAcross(s, block));
      if (!progress) return {};
      const std::lock_guard lock(mutex);
      done += BytesOfBlock(s, block);
      progress(done, file_bytes_);
      return {};
    });
    if (!checked) return checked;
  }
  SLIM_ASSIGN(const std::uint64_t bytes_now, FileSize(fd_, path_));
  if (bytes_now != file_bytes_) {
    return EnvironmentError("{}: the file changed size while it was read", path_);
  }
  return {};
}

}  // namespace slimgraph
