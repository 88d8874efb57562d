#include "slimgraph/base/sim/inode.h"

#include <algorithm>
#include <utility>

namespace slimgraph::sim {
namespace {

// One of so many overwritten sectors has been on the disk before.
constexpr std::uint64_t kWrittenBefore = 4;

Bytes PartOf(Bytes contents, std::uint64_t sector) {
  const std::uint64_t begin = sector * Inode::kSectorBytes;
  if (begin >= contents.size()) return {};
  return contents.subspan(begin, std::min(Inode::kSectorBytes, contents.size() - begin));
}

}  // namespace

// The rest of a sector behind the end of the file is zeros.
void Inode::MakeDurable(std::uint64_t sector, Bytes contents) {
  const std::uint64_t begin = sector * kSectorBytes;
  if (durable_.size() < begin + kSectorBytes) durable_.resize(begin + kSectorBytes);
  const auto into = durable_.begin() + static_cast<std::ptrdiff_t>(begin);
  std::fill_n(std::copy(contents.begin(), contents.end(), into), kSectorBytes - contents.size(),
              std::byte{0});
}

void Inode::Write(Scheduler& scheduler, std::uint64_t offset, Bytes bytes) {
  if (bytes.empty()) return;
  ++writes_;
  const std::uint64_t end = offset + bytes.size();
  for (std::uint64_t s = offset / kSectorBytes; s <= (end - 1) / kSectorBytes; ++s) {
    if (dirty_.contains(s) && scheduler.Random(kWrittenBefore) == 0) {
      MakeDurable(s, PartOf(cached_, s));
    }
    dirty_[s] = writes_;
  }
  if (end > cached_.size()) {
    cached_.resize(end);
    lengths_.push_back(end);
  }
  std::ranges::copy(bytes, cached_.begin() + static_cast<std::ptrdiff_t>(offset));
}

void Inode::Truncate(Scheduler& scheduler, std::uint64_t bytes) {
  if (bytes == cached_.size()) return;
  const std::uint64_t first = std::min<std::uint64_t>(bytes, cached_.size()) / kSectorBytes;
  for (auto at = dirty_.lower_bound(first); at != dirty_.end(); at = dirty_.erase(at)) {
    if (scheduler.Random(kWrittenBefore) == 0) MakeDurable(at->first, PartOf(cached_, at->first));
  }
  cached_.resize(bytes);
  lengths_.push_back(bytes);
  // The last sector loses its end, and further ones are zeros.
  ++writes_;
  for (std::uint64_t s = first; s * kSectorBytes < bytes; ++s) dirty_[s] = writes_;
}

void Inode::EndSync(const Snapshot& begun) {
  if (begun.writes < synced_writes_) return;  // a sync that began later has ended before
  synced_writes_ = begun.writes;
  for (const auto& [sector, write] : begun.sectors) {
    MakeDurable(sector, PartOf(begun.contents, sector));
    const auto now = dirty_.find(sector);
    if (now != dirty_.end() && now->second == write) dirty_.erase(now);
  }
  durable_bytes_ = begun.contents.size();
  lengths_.erase(lengths_.begin(), lengths_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                          begun.lengths, lengths_.size())));
}

void Inode::FailSync(Scheduler& scheduler, const Snapshot& begun) {
  for (const auto& [sector, write] : begun.sectors) {
    if (scheduler.Random(2) == 0) MakeDurable(sector, PartOf(begun.contents, sector));
    const auto now = dirty_.find(sector);
    if (now != dirty_.end() && now->second == write) dirty_.erase(now);
  }
}

void Inode::LoseContents(const std::function<bool()>& keeps,
                         const std::function<std::byte()>& fills) {
  std::size_t length = lengths_.size();
  while (length > 0 && !keeps()) --length;
  std::vector<std::byte> left(length == 0 ? durable_bytes_ : lengths_[length - 1]);
  for (std::uint64_t s = 0; s * kSectorBytes < left.size(); ++s) {
    const std::uint64_t begin = s * kSectorBytes;
    const std::uint64_t bytes = std::min(kSectorBytes, left.size() - begin);
    const auto into = left.begin() + static_cast<std::ptrdiff_t>(begin);
    if (dirty_.contains(s) && keeps()) {
      const Bytes from = PartOf(cached_, s);
      std::ranges::copy(from.first(std::min(from.size(), bytes)), into);
    } else if (begin < durable_.size()) {
      std::ranges::copy(PartOf(durable_, s).first(bytes), into);
    } else {
      std::generate_n(into, bytes, fills);
    }
  }
  cached_ = std::move(left);
  durable_ = cached_;
  durable_.resize((cached_.size() + kSectorBytes - 1) / kSectorBytes * kSectorBytes);
  durable_bytes_ = cached_.size();
  lengths_.clear();
  dirty_.clear();
  locks.clear();
}

Inode::Pointer Inode::Find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

void Inode::SetName(const std::string& name, Pointer inode) {
  changes_[name].push_back(inode);
  if (inode == nullptr) {
    names_.erase(name);
  } else {
    names_[name] = std::move(inode);
  }
}

std::map<std::string, std::size_t> Inode::BeginFolderSync() const {
  std::map<std::string, std::size_t> begun;
  for (const auto& [name, values] : changes_) begun[name] = values.size();
  return begun;
}

void Inode::EndFolderSync(const std::map<std::string, std::size_t>& begun) {
  for (const auto& [name, known] : begun) {
    // Another sync may have ended meanwhile.
    auto& values = changes_[name];
    const std::size_t count = std::min(known, values.size());
    if (count > 0) {
      durable_names_[name] = values[count - 1];
      values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (durable_names_[name] == nullptr) durable_names_.erase(name);
    if (values.empty()) changes_.erase(name);
  }
}

void Inode::LoseNames(const std::function<bool()>& keeps) {
  for (const auto& [name, values] : changes_) {
    std::size_t value = values.size();
    while (value > 0 && !keeps()) --value;
    if (value > 0) durable_names_[name] = values[value - 1];
    if (durable_names_[name] == nullptr) durable_names_.erase(name);
  }
  changes_.clear();
  names_ = durable_names_;
  locks.clear();
}

}  // namespace slimgraph::sim
