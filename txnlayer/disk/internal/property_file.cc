#include "txnlayer/disk/internal/property_file.h"

#include <xxhash.h>

#include <cstring>

#include "slimgraph/base/atomic_file.h"

namespace slimgraph::txn {
namespace {

constexpr std::uint64_t kPropertyMagic = 0x504F52504D494C53;  // "SLIMPROP"
constexpr std::uint64_t kPropertyVersion = 1;

// The columns follow. Each begins at a whole word.
struct Header {
  std::uint64_t magic;
  std::uint64_t version;
  std::uint64_t bytes[3];      // of each column
  std::uint64_t checksums[3];  // of each column
  std::uint64_t checksum;      // of the fields before
};

std::uint64_t RoundUp(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

std::uint64_t ChecksumOf(const Header& header) {
  return XXH3_64bits(&header, offsetof(Header, checksum));
}

}  // namespace

Status PropertyFile::Write(const std::string& path, const PropertyColumns& columns) {
  const Bytes parts[3] = {columns.vertices, columns.edges, std::as_bytes(columns.times)};
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  Header header = {};
  header.magic = kPropertyMagic;
  header.version = kPropertyVersion;
  std::uint64_t at = sizeof header;
  for (std::size_t i = 0; i < 3; ++i) {
    header.bytes[i] = parts[i].size();
    header.checksums[i] = XXH3_64bits(parts[i].data(), parts[i].size());
    SLIM_TRY(file.WriteAt(at, parts[i]));
    at += RoundUp(parts[i].size());
  }
  header.checksum = ChecksumOf(header);
  SLIM_TRY(file.WriteAt(0, std::as_bytes(std::span(&header, 1))));
  return file.Commit(Outlives::kPowerLoss);
}

Result<PropertyFile> PropertyFile::Open(const std::string& path, const GraphShape& shape,
                                        std::uint64_t vertices, std::uint64_t arcs) {
  PropertyFile made;
  SLIM_ASSIGN(made.file_, MappedFile::Open(path));
  const Bytes bytes = made.file_.bytes();
  Header header;
  if (bytes.size() < sizeof header) return InputError("{}: it has been cut off", path);
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kPropertyMagic || header.version != kPropertyVersion ||
      header.checksum != ChecksumOf(header)) {
    return InputError("{}: it is no file of properties of this version, or damaged", path);
  }
  const std::uint64_t wanted[3] = {vertices * shape.vertex_bytes, arcs * shape.extra_bytes(),
                                   arcs * sizeof(GraphTime)};
  Bytes parts[3];
  std::uint64_t at = sizeof header;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool fits = header.bytes[i] == 0 || header.bytes[i] == wanted[i];
    if (!fits || at + header.bytes[i] > bytes.size()) {
      return InputError("{}: it is of another graph, or has been cut off", path);
    }
    parts[i] = bytes.subspan(at, header.bytes[i]);
    at += RoundUp(header.bytes[i]);
    if (XXH3_64bits(parts[i].data(), parts[i].size()) != header.checksums[i]) {
      return InputError("{}: it is damaged", path);
    }
  }
  made.identity_ = header.checksum;
  made.columns_ = {
      parts[0],
      parts[1],
      {reinterpret_cast<const GraphTime*>(parts[2].data()), parts[2].size() / sizeof(GraphTime)}};
  return made;
}

}  // namespace slimgraph::txn
