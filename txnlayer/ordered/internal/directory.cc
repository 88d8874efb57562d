#include "txnlayer/ordered/internal/directory.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <shared_mutex>

namespace slimgraph::txn {
namespace {

constexpr std::size_t kFewNews = 64;
constexpr std::size_t kNewsShare = 32;  // train again after news of one leaf in so many

}  // namespace

bool Directory::Contains(const Lows& lows, Key low) {
  return std::binary_search(lows.begin(), lows.end(), low);
}

void Directory::Insert(Lows& lows, Key low) {
  const auto at = std::lower_bound(lows.begin(), lows.end(), low);
  if (at == lows.end() || *at != low) lows.insert(at, low);
}

void Directory::Erase(Lows& lows, Key low) {
  const auto at = std::lower_bound(lows.begin(), lows.end(), low);
  if (at != lows.end() && *at == low) lows.erase(at);
}

void Directory::Learn(std::vector<Key> lows) {
  auto learned = std::make_shared<const LearnedKeys>(std::move(lows));
  const std::lock_guard lock(mutex_);
  learned_ = std::move(learned);
  added_.clear();
  removed_.clear();
}

Key Directory::Find(Key key) const {
  const std::shared_lock lock(mutex_);
  std::size_t at = learned_->Find(key);
  while (!removed_.empty() && Contains(removed_, learned_->keys()[at])) --at;
  const auto above = std::upper_bound(added_.begin(), added_.end(), key);
  const Key learned = learned_->keys()[at];
  return above == added_.begin() ? learned : std::max(learned, *std::prev(above));
}

void Directory::Following(Key low, Key last, std::size_t most, std::vector<Key>& lows) const {
  const std::shared_lock lock(mutex_);
  const Lows& learned = learned_->keys();
  std::size_t at = learned_->Find(low) + 1;
  auto added = std::upper_bound(added_.begin(), added_.end(), low);
  while (most > 0 && (at < learned.size() || added != added_.end())) {
    const bool from_added = at == learned.size() || (added != added_.end() && *added < learned[at]);
    const Key next = from_added ? *added++ : learned[at++];
    if (next > last) return;
    if (!from_added && Contains(removed_, next)) continue;
    lows.push_back(next);
    --most;
  }
}

void Directory::Add(Key low) {
  {
    const std::lock_guard lock(mutex_);
    Erase(removed_, low);
    if (learned_->keys()[learned_->Find(low)] == low) return;
    Insert(added_, low);
    if (!TrainingIsDue()) return;
    training_ = true;
  }
  Train();
}

void Directory::Remove(Key low) {
  if (low == 0) return;
  {
    const std::lock_guard lock(mutex_);
    Erase(added_, low);
    if (learned_->keys()[learned_->Find(low)] != low) return;
    Insert(removed_, low);
    if (!TrainingIsDue()) return;
    training_ = true;
  }
  Train();
}

bool Directory::TrainingIsDue() const {
  const std::size_t news = added_.size() + removed_.size();
  return !training_ && news > std::max(kFewNews, learned_->keys().size() / kNewsShare);
}

// Other threads search, and add, while this one trains.
void Directory::Train() {
  std::shared_ptr<const LearnedKeys> before;
  Lows added;
  Lows removed;
  {
    const std::shared_lock lock(mutex_);
    before = learned_;
    added = added_;
    removed = removed_;
  }
  Lows kept;
  std::set_difference(before->keys().begin(), before->keys().end(), removed.begin(), removed.end(),
                      std::back_inserter(kept));
  Lows all;
  all.reserve(kept.size() + added.size());
  std::merge(kept.begin(), kept.end(), added.begin(), added.end(), std::back_inserter(all));
  auto learned = std::make_shared<const LearnedKeys>(std::move(all));

  const std::lock_guard lock(mutex_);
  training_ = false;
  if (learned_ != before) return;  // Learn() came in between
  // What has changed meanwhile, relative to what was just learned.
  Lows news;
  std::set_difference(added_.begin(), added_.end(), added.begin(), added.end(),
                      std::back_inserter(news));
  Lows gone;
  std::set_difference(removed_.begin(), removed_.end(), removed.begin(), removed.end(),
                      std::back_inserter(gone));
  for (const Key low : added) {
    if (!Contains(added_, low)) Insert(gone, low);
  }
  for (const Key low : removed) {
    if (!Contains(removed_, low)) Insert(news, low);
  }
  learned_ = std::move(learned);
  added_ = std::move(news);
  removed_ = std::move(gone);
  ++trained_;
}

std::uint64_t Directory::leaves() const {
  const std::shared_lock lock(mutex_);
  return learned_->keys().size() + added_.size() - removed_.size();
}

std::uint64_t Directory::bytes() const {
  const std::shared_lock lock(mutex_);
  return learned_->bytes() + (added_.capacity() + removed_.capacity()) * sizeof(Key);
}

std::uint64_t Directory::trained() const {
  const std::shared_lock lock(mutex_);
  return trained_;
}

}  // namespace slimgraph::txn
