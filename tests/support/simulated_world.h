// One run of a scenario: nodes as threads of a simulation, faults, and what to check.
#pragma once

#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "slimgraph/base/sim/network.h"
#include "slimgraph/base/sim/scheduler.h"
#include "slimgraph/launch/job.h"

namespace slimgraph::test {

constexpr std::uint64_t kMs = 1'000'000;

// An event of the run, for whoever reads its story.
struct Event {
  std::uint64_t at_ns;
  NodeId node;
  std::string what;
};

// The random numbers of one fault, which nothing else has drawn from.
class RandomOfFault {
 public:
  explicit RandomOfFault(std::uint64_t seed) : random_(seed) {}
  std::uint64_t Below(std::uint64_t limit) { return random_() % limit; }

 private:
  std::mt19937_64 random_;
};

// What is left out of the run of a seed, to find the shortest run that still fails, or is replaced.
// The rest stays as the seed determines it, except for who runs when.
struct LeftOut {
  NodeId most_nodes = kMaxNodes;
  std::uint32_t percent = 100;      // of the amounts of work
  std::set<std::uint32_t> faults;   // by their numbers
  std::uint64_t another_order = 0;  // changes who runs when
  // Whether threads interfere at operations on atomics; as the seed determines it if empty.
  std::optional<bool> points_at_atomics = {};
  std::string transport;  // if not empty, instead of the one that the seed determines
};

class World {
 public:
  // The options have no seed of their own.
  explicit World(std::uint64_t seed, LeftOut left_out = {}, sim::SchedulerOptions options = {});

  sim::Scheduler& scheduler() { return scheduler_; }
  // The one that jobs must use; empty: any.
  const std::string& transport() const { return left_out_.transport; }
  // While the nodes run.
  std::uint64_t Random(std::uint64_t below) { return scheduler_.Random(below); }
  // Before they run: what a scenario consists of.
  std::uint64_t Draw(std::uint64_t below) { return drawn_() % below; }
  // Some of `count` numbers of nodes from `least` on, and of amounts of work.
  NodeId DrawNodes(NodeId least, NodeId count);
  std::uint64_t DrawAmount(std::uint64_t least, std::uint64_t count);

  // Starts `body` on each of the nodes. May be called again when all of them have ended.
  void StartNodes(NodeId nodes, std::function<void(NodeId)> body);

  // Called by a node: joins the job of all nodes that StartNodes() has started.
  Result<std::unique_ptr<Job>> Join(OnLoss on_loss = OnLoss::kReport);

  // Starts a thread that does `faults` times one of: kill a node (but not node 0 if `spare_hub`),
  // stop one for a while, cut a link for a while. They lie within `within_ns` of the start.
  struct Faults {
    std::uint32_t most = 0;
    bool kills = true;
    bool stops = true;
    bool cuts = true;
    bool spares_hub = false;
    std::uint64_t within_ns = 0;
    std::uint64_t longest_ns = 20'000 * kMs;  // of a stop or a cut

    // Whether a job that cannot survive deaths may end because of them.
    bool ends_jobs() const { return most > 0 && (kills || cuts || longest_ns > 2'000 * kMs); }
  };
  void StartFaults(const Faults& faults);
  // For a scenario that makes its faults by itself: the next of them. It depends only on the seed
  // and on how many there were before. Nothing: it is left out.
  std::optional<RandomOfFault> BeginFault();
  // Those that were begun or left out.
  std::uint32_t faults_begun() const { return faults_begun_; }
  std::uint32_t faults_made() const { return faults_made_; }
  bool killed(NodeId node) const { return scheduler_.ended(node); }
  // Whether it has ended as by SIGKILL.
  bool died(NodeId node) const {
    const auto found = scheduler_.exit_codes().find(node);
    return found != scheduler_.exit_codes().end() && found->second == 128 + SIGKILL;
  }

  void Note(std::string what);
  const std::vector<Event>& story() const { return story_; }

  // Ends the run if `holds` is false.
  template <typename... Arguments>
  void Check(bool holds, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (!holds) scheduler_.Fail(fmt::format(text, std::forward<Arguments>(arguments)...));
  }

 private:
  void SetClocks(NodeId nodes);
  void MakeFault(const Faults& faults, std::uint32_t number, RandomOfFault random);

  const LeftOut left_out_;
  sim::Scheduler scheduler_;
  std::mt19937_64 drawn_;
  const std::uint64_t seed_of_faults_;
  NodeId nodes_ = 0;
  std::string hub_address_;
  std::uint32_t faults_begun_ = 0;
  std::uint32_t faults_made_ = 0;
  std::vector<Event> story_;
};

}  // namespace slimgraph::test
