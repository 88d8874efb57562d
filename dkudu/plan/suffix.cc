#include "dkudu/plan/suffix.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace slimgraph::dkudu {
namespace {

// Visits all partitions of the vertices, whose classes are given, and adds up the factors of those
// that give the same product.
class Partitions {
 public:
  explicit Partitions(const std::vector<std::uint8_t>& class_of) : class_of_(class_of) {
    Assign(0, 1);
  }

  std::vector<Suffix::Term> Terms() const {
    std::vector<Suffix::Term> terms;
    for (const auto& [blocks, factor] : factors_) terms.push_back({factor, blocks});
    return terms;
  }

 private:
  struct Block {
    ClassMask classes;
    std::int64_t size;
  };

  // A block's factor is multiplied by -size with each vertex that joins the block.
  void Assign(std::size_t vertex, std::int64_t factor) {
    if (vertex == class_of_.size()) {
      std::vector<ClassMask> blocks;
      for (const Block& block : blocks_) blocks.push_back(block.classes);
      std::sort(blocks.begin(), blocks.end());
      factors_[blocks] += factor;
      return;
    }
    const auto bit = static_cast<ClassMask>(1U << class_of_[vertex]);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Block before = blocks_[i];
      blocks_[i] = {static_cast<ClassMask>(before.classes | bit), before.size + 1};
      Assign(vertex + 1, -factor * before.size);
      blocks_[i] = before;
    }
    blocks_.push_back({bit, 1});
    Assign(vertex + 1, factor);
    blocks_.pop_back();
  }

  const std::vector<std::uint8_t>& class_of_;
  std::vector<Block> blocks_;
  std::map<std::vector<ClassMask>, std::int64_t> factors_;
};

}  // namespace

Suffix MakeSuffix(unsigned first, const std::vector<PatternMask>& neighbours) {
  Suffix suffix;
  suffix.levels = static_cast<unsigned>(neighbours.size());
  std::vector<std::uint8_t> class_of;
  std::vector<PatternMask> sets;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const auto found = std::find(sets.begin(), sets.end(), neighbours[i]);
    class_of.push_back(static_cast<std::uint8_t>(found - sets.begin()));
    if (found == sets.end()) {
      sets.push_back(neighbours[i]);
      suffix.classes.push_back({static_cast<std::uint8_t>(first + i), 0});
    }
    suffix.orders *= ++suffix.classes[class_of.back()].size;
  }
  if (suffix.classes.size() == 1) return suffix;
  suffix.terms = Partitions(class_of).Terms();
  std::set<ClassMask> bases;
  std::set<ClassMask> wanted;
  for (const auto& term : suffix.terms) {
    for (ClassMask block : term.blocks) {
      for (bool base = false; std::popcount(block) > 1; base = true) {
        wanted.insert(block);
        if (base) bases.insert(block);
        block &= static_cast<ClassMask>(~std::bit_floor(block));
      }
    }
  }
  // Ascending order works: an intersection's base is a smaller number.
  for (const ClassMask one : wanted) suffix.intersections.push_back({one, bases.contains(one)});
  return suffix;
}

}  // namespace slimgraph::dkudu
