// The file `manifest` of a store.
#include <xxhash.h>

#include <array>
#include <cstring>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/file_io.h"
#include "txnlayer/disk/store.h"

namespace slimgraph::txn {
namespace {

constexpr std::array<char, 8> kMagic = {'S', 'L', 'I', 'M', 'S', 'T', 'O', 'R'};
// The version of stores with indexes, and of those with directed or weighted graphs. All others
// keep the oldest version, so that older programs can read them.
constexpr std::uint32_t kIndexVersion = 3;
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kPlainVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;

// The file `manifest`. `batch_ids` entries of BatchId follow, in version 3 the number of indexes
// and as many of StoredIndex, then a checksum of all. (Older programs stored the progress of files
// as entries. These match no batch id, and are harmless.)
struct Manifest {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t vertex_bytes;
  std::uint32_t edge_bytes;
  std::uint64_t generation;
  std::uint32_t has_base;
  std::uint16_t has_properties;
  std::uint8_t directed;
  std::uint8_t weights;  // WeightType
  GraphTime kept_from;
  std::uint64_t batch_ids;
};

struct BatchId {
  std::uint64_t hash;
  std::uint64_t contents;
};

struct StoredIndex {
  char name[kMostIndexName + 1];
  std::uint32_t offset;
  std::uint32_t type;
};

// Whether the manifest describes a valid shape.
bool IsShape(const Manifest& manifest) {
  if (manifest.weights > static_cast<std::uint8_t>(WeightType::kFloat64)) return false;
  const auto weight_bytes = WeightBytes(static_cast<WeightType>(manifest.weights));
  return manifest.vertex_bytes <= kMaxPropertyBytes && manifest.edge_bytes <= kMaxPropertyBytes &&
         manifest.edge_bytes >= weight_bytes;
}

}  // namespace

Status Store::ReadManifest() {
  const std::string path = path_ + "/manifest";
  SLIM_ASSIGN(const MappedFile file, MappedFile::Open(path));
  const Bytes bytes = file.bytes();
  Manifest manifest = {};
  if (!bytes.empty()) {
    std::memcpy(&manifest, bytes.data(), std::min(bytes.size(), sizeof manifest));
  }
  if (manifest.magic != kMagic) return InputError("{}: it is no store", path_);
  if (manifest.version < kPlainVersion || manifest.version > kIndexVersion ||
      manifest.byte_order != kByteOrder) {
    return InputError("{}: it is a store of version {}; this program reads version {}", path_,
                      manifest.version, kIndexVersion);
  }
  const std::uint64_t ids = std::min(manifest.batch_ids, bytes.size() / sizeof(BatchId));
  const std::uint64_t indexes_at = sizeof manifest + ids * sizeof(BatchId);
  std::uint64_t indexes = 0;
  if (manifest.version == kIndexVersion && bytes.size() >= indexes_at + sizeof indexes) {
    std::memcpy(&indexes, bytes.data() + indexes_at, sizeof indexes);
    indexes = std::min<std::uint64_t>(indexes, kMostIndexes);
  }
  const std::uint64_t body = indexes_at + (manifest.version == kIndexVersion ? sizeof indexes : 0) +
                             indexes * sizeof(StoredIndex);
  std::uint64_t checksum = 0;
  if (bytes.size() == body + sizeof checksum) {
    std::memcpy(&checksum, bytes.data() + body, sizeof checksum);
  }
  const bool whole =
      bytes.size() == body + sizeof checksum && checksum == XXH3_64bits(bytes.data(), body);
  if (!whole || !IsShape(manifest)) return InputError("{}: it is damaged", path);
  shape_ = {manifest.vertex_bytes, manifest.edge_bytes, manifest.directed != 0,
            static_cast<WeightType>(manifest.weights)};
  generation_ = manifest.generation;
  has_base_ = manifest.has_base != 0;
  has_properties_ = manifest.has_properties != 0;
  kept_from_ = manifest.kept_from;
  for (std::uint64_t i = 0; i < indexes; ++i) {
    StoredIndex one;
    std::memcpy(&one, bytes.data() + indexes_at + sizeof indexes + i * sizeof one, sizeof one);
    one.name[kMostIndexName] = 0;
    indexes_.push_back({one.name, one.offset, static_cast<FieldType>(one.type)});
    if (one.type > static_cast<std::uint32_t>(FieldType::kF64)) {
      return InputError("{}: it is damaged", path);
    }
  }
  if (!CheckIndexes(indexes_, shape_.vertex_bytes)) return InputError("{}: it is damaged", path);
  for (std::uint64_t i = 0; i < ids; ++i) {
    BatchId id;
    std::memcpy(&id, bytes.data() + sizeof manifest + i * sizeof id, sizeof id);
    batch_ids_[id.hash] = id.contents;
  }
  return {};
}

Status Store::SetIndexes(std::vector<PropertyIndex> indexes) {
  SLIM_TRY(CheckIndexes(indexes, shape_.vertex_bytes));
  indexes_ = std::move(indexes);
  return WriteManifest();
}

Status Store::WriteManifest() const {
  const Manifest manifest{kMagic,
                          !indexes_.empty()                              ? kIndexVersion
                          : shape_.directed || shape_.weight_bytes() > 0 ? kVersion
                                                                         : kPlainVersion,
                          kByteOrder,
                          shape_.vertex_bytes,
                          shape_.edge_bytes,
                          generation_,
                          has_base_ ? 1U : 0U,
                          static_cast<std::uint16_t>(has_properties_ ? 1 : 0),
                          static_cast<std::uint8_t>(shape_.directed ? 1 : 0),
                          static_cast<std::uint8_t>(shape_.weights),
                          kept_from_,
                          batch_ids_.size()};
  std::vector<std::byte> bytes;
  const auto append = [&](const auto& value) {
    const Bytes more = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  append(manifest);
  for (const auto& [hash, contents] : batch_ids_) append(BatchId{hash, contents});
  if (!indexes_.empty()) append(std::uint64_t{indexes_.size()});
  for (const PropertyIndex& index : indexes_) {
    StoredIndex one{
        .name = {}, .offset = index.offset, .type = static_cast<std::uint32_t>(index.type)};
    index.name.copy(one.name, kMostIndexName);
    append(one);
  }
  append(XXH3_64bits(bytes.data(), bytes.size()));
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path_ + "/manifest"));
  SLIM_TRY(file.WriteAt(0, bytes));
  return file.Commit(Outlives::kPowerLoss);
}

}  // namespace slimgraph::txn
