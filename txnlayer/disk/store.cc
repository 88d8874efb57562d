#include "txnlayer/disk/store.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/check.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/base/folders.h"
#include "slimgraph/base/random.h"
#include "txnlayer/disk/merge.h"

namespace slimgraph::txn {
namespace {

// A log longer than this, and longer than the base, is folded into the base.
constexpr std::uint64_t kMostLogBytes = 256 << 20;

// The file `applying`, a batch. Its label has contents, batch id and lines of the file. Its words
// are this struct and the file's name. If it is incomplete it is ignored, since nothing was applied
// yet.
struct Journal {
  std::uint64_t log_before;
  std::uint64_t name_bytes;
};

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
  return file.Commit(Outlives::kPowerLoss);
}

}  // namespace

Result<DiskBase> DiskBase::Open(const std::string& lists, const std::string& properties,
                                const GraphShape& shape) {
  DiskBase base;
  base.shape_ = shape;
  SLIM_ASSIGN(base.file_, SlimFile::Open(lists));
  if (base.file_->directed() != shape.directed || base.file_->weight_type() != shape.weights) {
    return InputError("{}: it is not of this store: its edges have other directions or weights",
                      lists);
  }
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

Status Store::Create(const std::string& path, const std::string& graph, GraphShape shape,
                     std::vector<PropertyIndex> indexes) {
  SLIM_ASSIGN(const bool is_there, Exists(path));
  if (is_there) return UsageError("{}: it is there already", path);
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
  SLIM_TRY(CheckIndexes(indexes, shape.vertex_bytes));
  shape.edge_bytes += shape.weight_bytes();
  if (file) SLIM_TRY(file->CheckAll());
  Store made;
  made.path_ = PartialNameOf(path.substr(0, path.find_last_not_of('/') + 1));
  made.shape_ = shape;
  made.indexes_ = std::move(indexes);
  made.has_base_ = file.has_value();
  made.DrawId();
  SLIM_ASSIGN(const bool is_new, MakeFolder(made.path_));
  if (!is_new) return UsageError("{}: it is there already", made.path_);
  bool may_have_name = false;
  const auto fill = [&]() -> Status {
    if (file) SLIM_TRY(CopyFile(*file, made.FileName("base", ".slim")));
    SLIM_TRY(UpdateLogWriter::Open(made.log_path(), 0));
    SLIM_TRY(made.WriteManifest());
    SLIM_TRY(Rename(made.path_, path));
    const Status durable = SyncPath(FolderOf(path));
    if (durable) return durable;
    // Its files can be removed once it has surely lost its name. Otherwise a loss of power might
    // bring back the name without the files.
    may_have_name = true;
    if (!Rename(path, made.path_)) {
      return EnvironmentError("{} (the store is there, but a loss of power may remove it)",
                              durable.error().message);
    }
    may_have_name = !SyncPath(FolderOf(path)).has_value();
    return durable;
  };
  Status filled = fill();
  if (!filled && !may_have_name) {
    made.generation_ = ~std::uint64_t{0};  // so that RemoveOtherGenerations removes all files
    static_cast<void>(made.RemoveOtherGenerations());
    static_cast<void>(RemoveFile(made.path_ + "/manifest"));
    static_cast<void>(RemoveFolder(made.path_));
  }
  return filled;
}

Result<Store> Store::Open(const std::string& path, Use use) {
  Store store;
  store.path_ = path;
  SLIM_ASSIGN(const bool is_there, Exists(path));
  SLIM_ASSIGN(const bool is_store, Exists(path + "/manifest"));
  if (!is_there) {
    return InputError("{}: there is no such store; `slimgraph store create` makes one", path);
  }
  if (!is_store) return InputError("{}: it is no store; `slimgraph store create` makes one", path);
  SLIM_ASSIGN(auto lock,
              LockFolder(path, use == Use::kWrite ? LockKind::kExclusive : LockKind::kShared));
  if (!lock) {
    return EnvironmentError("{}: another process is {} this store", path,
                            use == Use::kWrite ? "using" : "writing to");
  }
  store.lock_ = std::move(*lock);
  SLIM_TRY(store.ReadManifest());
  if (use == Use::kWrite) SLIM_TRY(store.RemoveOtherGenerations());
  if (use == Use::kWrite && store.id() == 0) {
    store.DrawId();
    SLIM_TRY(store.WriteManifest());
  }
  SLIM_TRY(store.OpenFiles());
  if (use == Use::kWrite) SLIM_TRY(store.ReadJournal());
  // Who created the store may have been killed before its name was durable.
  const bool is_first = store.generation_ == 0 && store.log_->batches().empty();
  if (use == Use::kWrite && is_first) SLIM_TRY(SyncPath(FolderOf(path)));
  // Only the interrupted file can have a batch that is not durable.
  if (store.applying_) SLIM_TRY(store.log_->MakeDurable(store.log_path()));
  return store;
}

void Store::DrawId() {
  std::uint64_t id = 0;
  const Status filled = FillWithRandom(std::as_writable_bytes(std::span(&id, 1)));
  SLIM_CHECK(filled, "{}", filled.error().message);
  batch_ids_[kIdOfStore] = id | 1;
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
  return {};
}

GraphTime Store::last() const {
  return log_->batches().empty() ? kept_from_ : log_->batches().back().time;
}

Status Store::ReadJournal() {
  SLIM_ASSIGN(const bool is_there, Exists(journal_path()));
  if (!is_there) return {};
  SLIM_ASSIGN(const BatchLogReader journal, BatchLogReader::Open(journal_path()));
  if (journal.batches().empty()) return {};
  const auto& [label, position, words] = journal.batches().front();
  const Bytes bytes = std::as_bytes(words);
  Journal head = {};
  if (bytes.size() >= sizeof head) std::memcpy(&head, bytes.data(), sizeof head);
  if (bytes.size() < sizeof head || head.name_bytes > bytes.size() - sizeof head) {
    return InputError("{}: it is damaged", journal_path());
  }
  const auto* const name = reinterpret_cast<const char*>(bytes.data() + sizeof head);
  applying_ = {{name, head.name_bytes}, label[0], label[1], label[2], head.log_before};
  for (const Batch& batch : log_->batches()) {
    if (batch.position * sizeof(std::uint64_t) > head.log_before) {
      applying_->done = batch.progress.lines;
    }
  }
  return {};
}

Status Store::BeginApplying(Applying file) {
  const Journal head{file.log_before, file.file.size()};
  std::vector<std::uint64_t> words((sizeof head + file.file.size() + 7) / 8);
  std::memcpy(words.data(), &head, sizeof head);
  std::memcpy(words.data() + sizeof head / 8, file.file.data(), file.file.size());
  SLIM_ASSIGN(BatchLogWriter journal, BatchLogWriter::Open(journal_path(), 0));
  SLIM_TRY(journal.Append({file.contents, file.batch_id, file.lines}, words));
  applying_ = std::move(file);
  return {};
}

Status Store::EndApplying(bool all) {
  if (all && applying_->batch_id != 0) {
    batch_ids_[applying_->batch_id] = applying_->contents;
    SLIM_TRY(WriteManifest());
  }
  applying_.reset();
  SLIM_TRY(RemoveFile(journal_path()));
  return SyncPath(path_);
}

std::optional<std::uint64_t> Store::AppliedAs(std::uint64_t batch_id) const {
  const auto found = batch_ids_.find(batch_id);
  if (batch_id == 0 || found == batch_ids_.end()) return std::nullopt;
  return found->second;
}

// Removes files of other generations, left by an interrupted fold or by one that could not remove
// them. The manifest must be durable before: it may have been renamed by a process that was killed
// before its sync, and the removals can become durable without the new name.
Status Store::RemoveOtherGenerations() const {
  SLIM_ASSIGN(const std::vector<std::string> names, NamesIn(path_));
  std::vector<std::string> others;
  const std::string mine = fmt::format(".{}", generation_);
  for (const std::string& name : names) {
    // A session that has the store open keeps its logs in `session` (session/graph_store.h).
    if (name == "manifest" || name == "applying" || name == "session") continue;
    const std::size_t dot = name.find('.');
    const std::size_t end = std::min(name.find('.', dot + 1), name.size());
    const bool current = dot < name.size() && name.substr(dot, end - dot) == mine &&
                         name.find(".partial") == std::string::npos;
    if (!current) others.push_back(name);
  }
  if (others.empty()) return {};
  SLIM_TRY(SyncPath(path_));
  for (const std::string& name : others) static_cast<void>(RemoveFile(path_ + "/" + name));
  return {};
}

Status Store::Fold() {
  SLIM_CHECK(!applying_, "{} is being applied", applying_->file);
  SLIM_TRY(OpenFiles());  // with the batches that were appended since
  if (log_->batches().empty()) return {};
  Store next;
  next.path_ = path_;
  next.shape_ = shape_;
  next.generation_ = generation_ + 1;
  next.has_base_ = true;
  next.kept_from_ = last();
  next.batch_ids_ = batch_ids_;
  const std::string lists = next.FileName("base", ".slim");
  const std::string properties = next.FileName("base", ".properties");
  SLIM_ASSIGN(const Merged merged,
              Merge(*base_, shape_, log_->batches(), kTimeLast, lists, properties));
  next.has_properties_ = merged.has_properties;
  SLIM_TRY(UpdateLogWriter::Open(next.log_path(), 0));
  SLIM_TRY(next.WriteManifest());
  next.lock_ = std::move(lock_);
  SLIM_TRY(next.OpenFiles());
  *this = std::move(next);
  static_cast<void>(RemoveOtherGenerations());
  return {};
}

Result<bool> Store::FoldIfLong() {
  SLIM_ASSIGN(const UniqueFd log, OpenForReading(log_path()));
  SLIM_ASSIGN(const std::uint64_t log_bytes, FileSize(log, log_path()));
  const std::uint64_t base_bytes = has_base_ ? base_->file()->file_bytes() : 0;
  if (log_bytes <= std::max(kMostLogBytes, base_bytes)) return false;
  SLIM_TRY(Fold());
  return true;
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
  SLIM_ASSIGN(const bool was_written, Exists(lists));
  if (!was_written && !CheckWritable(path_)) return PrivateImage();
  // The lists are written last, so if they exist the image is complete.
  SLIM_ASSIGN(const bool is_written, Exists(lists));
  if (!is_written) {
    SLIM_TRY(Merge(*base_, shape_, log_->batches(), kTimeLast, lists, properties));
  }
  SLIM_ASSIGN(const bool has_properties, Exists(properties));
  return DiskBase::Open(lists, has_properties ? properties : "", shape_);
}

// An open file stays readable after its name is removed.
Result<DiskBase> Store::PrivateImage() const {
  const char* const named = std::getenv("TMPDIR");
  const std::string folder =
      PartialNameOf(std::string(named == nullptr ? "/tmp" : named) + "/slimgraph-image");
  SLIM_ASSIGN(const bool is_new, MakeFolder(folder));
  if (!is_new) return EnvironmentError("{}: it is there already", folder);
  const std::string lists = folder + "/image.slim";
  const std::string properties = folder + "/image.properties";
  const auto open = [&]() -> Result<DiskBase> {
    SLIM_TRY(Merge(*base_, shape_, log_->batches(), kTimeLast, lists, properties));
    SLIM_ASSIGN(const bool has_properties, Exists(properties));
    return DiskBase::Open(lists, has_properties ? properties : "", shape_);
  };
  Result<DiskBase> image = open();
  for (const std::string& file : {lists, properties}) static_cast<void>(RemoveFile(file));
  static_cast<void>(RemoveFolder(folder));
  return image;
}

}  // namespace slimgraph::txn
