#include "txnlayer/disk/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "slimgraph/base/atomic_file.h"
#include "txnlayer/disk/merge.h"

namespace slimgraph::txn {
namespace {

constexpr std::array<char, 8> kMagic = {'S', 'L', 'I', 'M', 'S', 'T', 'O', 'R'};
// That of stores of graphs that have directions or weights, and of all others, which programs read
// that know of neither.
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kPlainVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;

// The file `manifest`; so many entries of Progress follow, then a checksum of all.
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
  std::uint64_t progress;
};

Status Failed(const std::string& path) {
  return EnvironmentError("{}: {}", path, std::strerror(errno));
}

Status CopyFile(const SlimFile& from, const std::string& to) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(from.path()));
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(to));
  std::vector<std::byte> buffer(4 << 20);
  for (std::uint64_t at = 0; at < from.file_bytes();) {
    SLIM_ASSIGN(const std::size_t got, ReadAt(fd, from.path(), at, buffer));
    if (got == 0) return InputError("{}: it has shrunk while it was read", from.path());
    SLIM_TRY(file.WriteAt(at, Bytes(buffer).first(got)));
    at += got;
  }
  SLIM_TRY(file.Commit());
  return SyncPath(to);
}

}  // namespace

Result<DiskBase> DiskBase::Open(const std::string& lists, const std::string& properties,
                                const GraphShape& shape) {
  DiskBase base;
  base.shape_ = shape;
  SLIM_ASSIGN(base.file_, SlimFile::Open(lists));
  if (!properties.empty()) {
    SLIM_ASSIGN(base.properties_,
                PropertyFile::Open(properties, shape, base.file_->vertices(),
                                   base.file_->arcs() * DirectionsOf(shape).size()));
  }
  return base;
}

namespace {

Status CopyColumn(Bytes column, std::uint64_t at, MutableBytes into) {
  if (!column.empty())
    std::copy_n(column.begin() + static_cast<std::ptrdiff_t>(at), into.size(), into.begin());
  return {};
}

}  // namespace

Status DiskBase::ReadVertexProperties(VertexId first, MutableBytes into) const {
  return CopyColumn(columns().vertices, std::uint64_t{first} * shape_.vertex_bytes, into);
}
Status DiskBase::ReadEdgeProperties(EdgeOffset first, MutableBytes into) const {
  return CopyColumn(columns().edges, first * shape_.extra_bytes(), into);
}
Status DiskBase::ReadEdgeTimes(EdgeOffset first, std::span<GraphTime> into) const {
  return CopyColumn(std::as_bytes(columns().times), first * sizeof(GraphTime),
                    std::as_writable_bytes(into));
}

std::string Store::FileName(const char* what, const char* kind) const {
  return fmt::format("{}/{}.{}{}", path_, what, generation_, kind);
}

Status Store::Create(const std::string& path, const std::string& graph, GraphShape shape) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) return UsageError("{}: it is there already", path);
  std::optional<SlimFile> file;
  if (!graph.empty()) {
    SLIM_ASSIGN(file, SlimFile::Open(graph));
    SLIM_TRY(CheckBaseFile(*file));
    shape.directed = file->directed();
    shape.weights = file->weight_type();
  }
  for (const auto& [what, bytes, most] :
       {std::tuple{"--vertex-bytes", shape.vertex_bytes, kMaxPropertyBytes},
        {"--edge-bytes", shape.edge_bytes, kMaxPropertyBytes - shape.weight_bytes()}}) {
    if (bytes > most) return UsageError("{} {}: at most {} are possible", what, bytes, most);
  }
  shape.edge_bytes += shape.weight_bytes();
  if (file) SLIM_TRY(file->CheckAll());
  Store made;
  made.path_ = fmt::format("{}.{}.partial", path, ::getpid());
  made.shape_ = shape;
  made.has_base_ = file.has_value();
  if (::mkdir(made.path_.c_str(), 0777) != 0) return Failed(made.path_);
  const auto fill = [&]() -> Status {
    if (file) SLIM_TRY(CopyFile(*file, made.FileName("base", ".slim")));
    SLIM_TRY(UpdateLogWriter::Open(made.log_path(), 0));
    SLIM_TRY(made.WriteManifest());
    if (::rename(made.path_.c_str(), path.c_str()) != 0) return Failed(path);
    return {};
  };
  Status filled = fill();
  if (!filled) {
    made.generation_ = ~std::uint64_t{0};  // none of the files is of it
    made.RemoveOthers();
    ::unlink((made.path_ + "/manifest").c_str());
    ::rmdir(made.path_.c_str());
  }
  return filled;
}

Result<Store> Store::Open(const std::string& path, Use use) {
  Store store;
  store.path_ = path;
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return InputError("{}: {}", path, std::strerror(errno));
  store.lock_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!store.lock_) return InputError("{}: it is no store", path);
  if (::flock(store.lock_.get(), (use == Use::kWrite ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    return EnvironmentError("{}: another process is {} this store", path,
                            use == Use::kWrite ? "using" : "writing to");
  }
  SLIM_TRY(store.ReadManifest());
  if (use == Use::kWrite) store.RemoveOthers();
  SLIM_TRY(store.OpenFiles());
  return store;
}

Status Store::OpenFiles() {
  base_ = std::make_unique<DiskBase>();
  if (has_base_) {
    SLIM_ASSIGN(*base_,
                DiskBase::Open(FileName("base", ".slim"),
                               has_properties_ ? FileName("base", ".properties") : "", shape_));
  }
  SLIM_ASSIGN(auto log, UpdateLogReader::Open(log_path()));
  log_ = std::make_unique<UpdateLogReader>(std::move(log));
  for (const Batch& batch : log_->batches()) {
    progress_[batch.progress.identity] = batch.progress.lines;
  }
  return {};
}

GraphTime Store::last() const {
  return log_->batches().empty() ? kept_from_ : log_->batches().back().time;
}

Status Store::ReadManifest() {
  const std::string path = path_ + "/manifest";
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return InputError("{}: it is no store", path_);
  SLIM_ASSIGN(const MappedFile file, MappedFile::Open(path));
  const Bytes bytes = file.bytes();
  Manifest manifest = {};
  std::memcpy(&manifest, bytes.data(), std::min(bytes.size(), sizeof manifest));
  if (manifest.magic != kMagic) return InputError("{}: it is no store", path_);
  if ((manifest.version != kVersion && manifest.version != kPlainVersion) ||
      manifest.byte_order != kByteOrder) {
    return InputError("{}: it is a store of version {}; this program reads version {}", path_,
                      manifest.version, kVersion);
  }
  const std::uint64_t body = sizeof manifest + manifest.progress * sizeof(Progress);
  std::uint64_t checksum = 0;
  if (bytes.size() == body + sizeof checksum) {
    std::memcpy(&checksum, bytes.data() + body, sizeof checksum);
  }
  if (bytes.size() != body + sizeof checksum || checksum != XXH3_64bits(bytes.data(), body)) {
    return InputError("{}: it is damaged", path);
  }
  shape_ = {manifest.vertex_bytes, manifest.edge_bytes, manifest.directed != 0,
            static_cast<WeightType>(manifest.weights)};
  generation_ = manifest.generation;
  has_base_ = manifest.has_base != 0;
  has_properties_ = manifest.has_properties != 0;
  kept_from_ = manifest.kept_from;
  for (std::uint64_t i = 0; i < manifest.progress; ++i) {
    Progress progress;
    std::memcpy(&progress, bytes.data() + sizeof manifest + i * sizeof progress, sizeof progress);
    progress_[progress.identity] = progress.lines;
  }
  return {};
}

Status Store::WriteManifest() const {
  const Manifest manifest{kMagic,
                          shape_.directed || shape_.weight_bytes() > 0 ? kVersion : kPlainVersion,
                          kByteOrder,
                          shape_.vertex_bytes,
                          shape_.edge_bytes,
                          generation_,
                          has_base_ ? 1U : 0U,
                          static_cast<std::uint16_t>(has_properties_ ? 1 : 0),
                          static_cast<std::uint8_t>(shape_.directed ? 1 : 0),
                          static_cast<std::uint8_t>(shape_.weights),
                          kept_from_,
                          progress_.size()};
  std::vector<std::byte> bytes;
  const auto append = [&](const auto& value) {
    const Bytes more = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  append(manifest);
  for (const auto& [identity, lines] : progress_) append(Progress{identity, lines});
  append(XXH3_64bits(bytes.data(), bytes.size()));
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path_ + "/manifest"));
  SLIM_TRY(file.WriteAt(0, bytes));
  SLIM_TRY(file.Sync());
  SLIM_TRY(file.Commit());
  return SyncPath(path_);
}

// What an interrupted fold, or one that could not take away the past, has left.
void Store::RemoveOthers() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path_.c_str()), ::closedir);
  if (!directory) return;
  const std::string mine = fmt::format(".{}", generation_);
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == "manifest") continue;
    const std::size_t dot = name.find('.');
    const std::size_t end = std::min(name.find('.', dot + 1), name.size());
    const bool current = dot < name.size() && name.substr(dot, end - dot) == mine &&
                         name.find(".partial") == std::string::npos;
    if (!current) ::unlink((path_ + "/" + name).c_str());
  }
}

Status Store::Fold() {
  if (log_->batches().empty()) return {};
  Store next;
  next.path_ = path_;
  next.shape_ = shape_;
  next.generation_ = generation_ + 1;
  next.has_base_ = true;
  next.kept_from_ = last();
  next.progress_ = progress_;
  const std::string lists = next.FileName("base", ".slim");
  const std::string properties = next.FileName("base", ".properties");
  SLIM_ASSIGN(const Merged merged,
              Merge(*base_, shape_, log_->batches(), kTimeLast, lists, properties));
  next.has_properties_ = merged.has_properties;
  SLIM_TRY(SyncPath(lists));
  if (merged.has_properties) SLIM_TRY(SyncPath(properties));
  SLIM_TRY(UpdateLogWriter::Open(next.log_path(), 0));
  SLIM_TRY(next.WriteManifest());
  next.lock_ = std::move(lock_);
  SLIM_TRY(next.OpenFiles());
  *this = std::move(next);
  RemoveOthers();
  return {};
}

Result<DiskBase> Store::Image() const {
  if (log_->batches().empty()) {
    if (!has_base_) return DiskBase();
    return DiskBase::Open(FileName("base", ".slim"),
                          has_properties_ ? FileName("base", ".properties") : "", shape_);
  }
  const std::string name = fmt::format("-{}", log_->whole_bytes());
  const std::string lists = FileName("image", (name + ".slim").c_str());
  const std::string properties = FileName("image", (name + ".properties").c_str());
  struct stat info;
  // The lists come last.
  if (::stat(lists.c_str(), &info) != 0) {
    SLIM_TRY(Merge(*base_, shape_, log_->batches(), kTimeLast, lists, properties));
  }
  const bool carries = ::stat(properties.c_str(), &info) == 0;
  return DiskBase::Open(lists, carries ? properties : "", shape_);
}

}  // namespace slimgraph::txn
