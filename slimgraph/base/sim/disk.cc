#include "slimgraph/base/sim/disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>

#include "slimgraph/base/check.h"
#include "slimgraph/base/sim/inode.h"

namespace slimgraph::sim {
namespace {

constexpr std::uint64_t kCallsPerPartialOne = 8;

int Fails(int reason) {
  errno = reason;
  return -1;
}

bool IsUnnamed(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace

Disks& Disks::Current() { return Scheduler::Current()->disks(); }

Disks::Disks(Scheduler& scheduler) : scheduler_(scheduler) {}
Disks::~Disks() = default;

Disks::Disk& Disks::DiskOf(NodeId node) {
  Disk& disk = disks_[node];
  if (disk.root == nullptr) {
    disk.root = std::make_shared<Inode>(true);
    disk.has_unnamed_files = scheduler_.Random(2) == 0;
  }
  return disk;
}

// Before each operation. False: it fails.
bool Disks::Begin(Disk& disk) {
  scheduler_.Point();
  ++disk.operations;
  if (disk.until_failure == kForever || disk.until_failure-- > 0) return true;
  errno = EIO;
  return false;
}

// On an open file. Null: it fails, perhaps because the power has been cut before the operation.
Disks::OpenFile* Disks::Begin(int fd) {
  OpenFile* const open = Find(fd);
  return open == nullptr || !Begin(*open->disk) ? nullptr : Find(fd);
}

bool Disks::Begin(const std::string& path, Place& place) {
  const bool well = Begin(*Find(path).disk);
  if (well) place = Find(path);  // as it is after the point
  return well;
}

// Without a folder if it or one before it does not exist.
Disks::Place Disks::Find(const std::string& path) {
  Place place;
  NodeId node = 0;
  const char* const end = path.data() + path.size();
  const auto [rest, failed] = std::from_chars(path.data() + kPrefix.size(), end, node);
  SLIM_CHECK(failed == std::errc() && (rest == end || *rest == '/'), "{} is on no disk", path);
  place.disk = &DiskOf(node);
  place.inode = place.folder = place.disk->root;
  for (const char* at = rest; at != end;) {
    if (*at == '/') {
      ++at;
      continue;
    }
    const char* const last = std::find(at, end, '/');
    if (place.inode == nullptr || !place.inode->is_folder()) {
      place.folder = place.inode = nullptr;
      return place;
    }
    place.folder = place.inode;
    place.name.assign(at, last);
    place.inode = place.folder->Find(place.name);
    at = last;
  }
  return place;
}

Disks::OpenFile* Disks::Find(int fd) {
  const auto index = static_cast<std::size_t>(fd - kFirstDescriptor);
  OpenFile* const found = index < open_.size() ? open_[index].get() : nullptr;
  if (found == nullptr) errno = EBADF;
  return found;
}

int Disks::Add(const Place& place, InodePointer inode, int flags) {
  open_.push_back(
      std::make_unique<OpenFile>(OpenFile{std::move(inode), place.disk, scheduler_.node(), flags}));
  return kFirstDescriptor + static_cast<int>(open_.size()) - 1;
}

int Disks::Open(const std::string& path, int flags) {
  Place place;
  if (!Begin(path, place)) return -1;
  if (place.folder == nullptr) return Fails(ENOENT);
  if (IsUnnamed(flags)) {
    if (place.inode == nullptr) return Fails(ENOENT);
    if (!place.disk->has_unnamed_files) return Fails(EOPNOTSUPP);
    return Add(place, std::make_shared<Inode>(false), flags);
  }
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (place.inode == nullptr) {
    if ((flags & O_CREAT) == 0) return Fails(ENOENT);
    if (place.disk->room == 0) return Fails(ENOSPC);
    const auto made = std::make_shared<Inode>(false);
    place.folder->SetName(place.name, made);
    return Add(place, made, flags);
  }
  if ((flags & O_EXCL) != 0) return Fails(EEXIST);
  if (place.inode->is_folder() && writes) return Fails(EISDIR);
  if (!place.inode->is_folder() && (flags & O_DIRECTORY) != 0) return Fails(ENOTDIR);
  if ((flags & O_TRUNC) != 0) place.inode->Truncate(scheduler_, 0);
  return Add(place, place.inode, flags);
}

int Disks::Close(int fd) {
  OpenFile* const open = Find(fd);
  if (open == nullptr) return -1;
  open->inode->locks.erase(fd);
  open_[static_cast<std::size_t>(fd - kFirstDescriptor)].reset();
  return 0;
}

void Disks::CloseAllOf(NodeId node) {
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (open_[i] && open_[i]->node == node) Close(kFirstDescriptor + static_cast<int>(i));
  }
}

ssize_t Disks::ReadAt(int fd, MutableBytes into, std::uint64_t offset) {
  OpenFile* const open = Begin(fd);
  if (open == nullptr) return -1;
  const Bytes contents = open->inode->contents();
  if (offset >= contents.size()) return 0;
  std::uint64_t bytes = std::min<std::uint64_t>(into.size(), contents.size() - offset);
  if (bytes > 1 && scheduler_.Random(kCallsPerPartialOne) == 0) {
    bytes = 1 + scheduler_.Random(bytes);
  }
  std::ranges::copy(contents.subspan(offset, bytes), into.begin());
  return static_cast<ssize_t>(bytes);
}

ssize_t Disks::WriteAt(int fd, Bytes bytes, std::uint64_t offset) {
  OpenFile* const open = Find(fd);
  if (open == nullptr) return -1;
  Disk& disk = *open->disk;
  const InodePointer inode = open->inode;
  Inode& file = *inode;
  const bool whole = Begin(disk);
  if (Find(fd) == nullptr) return -1;
  // An operation that fails may have written a part.
  if (!whole) {
    bytes = bytes.first(scheduler_.Random(bytes.size() + 1));
  } else if (bytes.size() > 1 && scheduler_.Random(kCallsPerPartialOne) == 0) {
    bytes = bytes.first(1 + scheduler_.Random(bytes.size()));
  }
  const std::uint64_t end = std::max<std::uint64_t>(offset + bytes.size(), file.contents().size());
  const std::uint64_t growth = end - file.contents().size();
  const std::uint64_t lacking = growth - std::min(growth, disk.room);
  if (lacking >= bytes.size() && lacking > 0) return Fails(ENOSPC);
  bytes = bytes.first(bytes.size() - lacking);
  if (disk.room != kForever) disk.room -= growth - lacking;
  file.Write(scheduler_, offset, bytes);
  if (!whole) return Fails(EIO);
  return static_cast<ssize_t>(bytes.size());
}

ssize_t Disks::Append(int fd, Bytes bytes) {
  OpenFile* const open = Find(fd);
  return open == nullptr ? -1 : WriteAt(fd, bytes, open->inode->contents().size());
}

int Disks::Truncate(int fd, std::uint64_t bytes) {
  OpenFile* const open = Begin(fd);
  if (open == nullptr) return -1;
  open->inode->Truncate(scheduler_, bytes);
  return 0;
}

void Disks::SpendSync(const Disk& disk) {
  scheduler_.SleepUntil(scheduler_.now_ns() + 1 + scheduler_.Random(2 * disk.sync_ns));
}

int Disks::Sync(int fd) {
  const OpenFile* const open = Find(fd);
  if (open == nullptr) return -1;
  Disk& disk = *open->disk;
  const InodePointer inode = open->inode;
  const bool well = Begin(disk);
  if (inode->is_folder()) {
    if (!well) return -1;
    const auto begun = inode->BeginFolderSync();
    SpendSync(disk);
    if (Find(fd) == nullptr) return Fails(EIO);
    inode->EndFolderSync(begun);
    return 0;
  }
  const Inode::Snapshot begun = inode->BeginSync();
  SpendSync(disk);
  // What was to be synced may have been lost by a power cut.
  if (Find(fd) == nullptr) return Fails(EIO);
  if (well) {
    inode->EndSync(begun);
    return 0;
  }
  inode->FailSync(scheduler_, begun);
  return Fails(EIO);
}

int Disks::StatOf(int fd, struct stat& info) {
  const OpenFile* const open = Find(fd);
  if (open == nullptr) return -1;
  info = {};
  info.st_mode = open->inode->is_folder() ? S_IFDIR | 0777 : S_IFREG | 0666;
  info.st_size = static_cast<off_t>(open->inode->contents().size());
  return 0;
}

int Disks::StatOf(const std::string& path, struct stat& info) {
  const int fd = Open(path, O_RDONLY);
  if (fd < 0) return -1;
  StatOf(fd, info);
  return Close(fd);
}

int Disks::Lock(int fd, int operation) {
  scheduler_.Point();
  const OpenFile* const open = Find(fd);
  if (open == nullptr) return -1;
  const bool exclusive = (operation & LOCK_EX) != 0;
  for (const auto& [other, is_exclusive] : open->inode->locks) {
    if (other != fd && (exclusive || is_exclusive)) return Fails(EWOULDBLOCK);
  }
  open->inode->locks[fd] = exclusive;
  return 0;
}

// A copy: nobody changes a file while it is mapped.
void* Disks::Map(int fd, std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const MutableBytes into(static_cast<std::byte*>(memory), bytes);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t read = ReadAt(fd, into.subspan(done), done);
    if (read <= 0) {
      ::munmap(memory, bytes);
      return nullptr;
    }
    done += static_cast<std::size_t>(read);
  }
  ::mprotect(memory, bytes, PROT_READ);
  return memory;
}

int Disks::Name(int unnamed_fd, const std::string& path) {
  Place place;
  if (Find(unnamed_fd) == nullptr || !Begin(path, place)) return -1;
  const OpenFile* const open = Find(unnamed_fd);
  if (open == nullptr) return -1;
  if (place.folder == nullptr) return Fails(ENOENT);
  if (place.inode != nullptr) return Fails(EEXIST);
  if (place.disk->room == 0) return Fails(ENOSPC);
  place.folder->SetName(place.name, open->inode);
  return 0;
}

int Disks::Rename(const std::string& from, const std::string& to) {
  Place old;
  if (!Begin(from, old)) return -1;
  const Place place = Find(to);
  SLIM_CHECK(old.disk == place.disk, "{} and {} are on different disks", from, to);
  if (old.inode == nullptr || place.folder == nullptr) return Fails(ENOENT);
  if (place.inode != nullptr && place.inode->is_folder()) return Fails(EEXIST);
  old.folder->SetName(old.name, nullptr);
  place.folder->SetName(place.name, old.inode);
  return 0;
}

int Disks::Remove(const std::string& path) {
  Place place;
  if (!Begin(path, place)) return -1;
  if (place.inode == nullptr) return Fails(ENOENT);
  if (place.inode->is_folder()) return Fails(EISDIR);
  place.folder->SetName(place.name, nullptr);
  return 0;
}

int Disks::MakeFolder(const std::string& path) {
  Place place;
  if (!Begin(path, place)) return -1;
  if (place.folder == nullptr) return Fails(ENOENT);
  if (place.inode != nullptr) return Fails(EEXIST);
  if (place.disk->room == 0) return Fails(ENOSPC);
  place.folder->SetName(place.name, std::make_shared<Inode>(true));
  return 0;
}

int Disks::RemoveFolder(const std::string& path) {
  Place place;
  if (!Begin(path, place)) return -1;
  if (place.inode == nullptr) return Fails(ENOENT);
  if (!place.inode->is_folder()) return Fails(ENOTDIR);
  if (!place.inode->names().empty()) return Fails(ENOTEMPTY);
  place.folder->SetName(place.name, nullptr);
  return 0;
}

int Disks::List(const std::string& folder, std::vector<std::string>& names) {
  Place place;
  if (!Begin(folder, place)) return -1;
  if (place.inode == nullptr) return Fails(ENOENT);
  if (!place.inode->is_folder()) return Fails(ENOTDIR);
  for (const auto& [name, inode] : place.inode->names()) names.push_back(name);
  return 0;
}

namespace {

// What one power cut leaves. All parts are kept with the same probability, which may be 0 or 1.
class Loss {
 public:
  explicit Loss(Scheduler& scheduler)
      : scheduler_(scheduler),
        kept_quarters_(scheduler.Random(5)),
        garbage_(scheduler.Random(4) == 0) {}

  void Apply(Inode& inode) {
    if (!reached_.insert(&inode).second) return;
    const auto keeps = [this] { return scheduler_.Random(4) < kept_quarters_; };
    if (!inode.is_folder()) {
      return inode.LoseContents(keeps, [this] {
        return garbage_ ? static_cast<std::byte>(scheduler_.Random(256)) : std::byte{0};
      });
    }
    inode.LoseNames(keeps);
    for (const auto& [name, child] : inode.names()) Apply(*child);
  }

 private:
  Scheduler& scheduler_;
  const std::uint64_t kept_quarters_;
  const bool garbage_;
  std::set<const Inode*> reached_;
};

}  // namespace

void Disks::CutPower(NodeId node) {
  Disk& disk = DiskOf(node);
  for (std::unique_ptr<OpenFile>& open : open_) {
    if (open && open->disk == &disk) open.reset();
  }
  Loss(scheduler_).Apply(*disk.root);
}

}  // namespace slimgraph::sim
