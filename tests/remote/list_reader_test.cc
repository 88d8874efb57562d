// Compares the lists that delegates fetch with the file: by reads and by requests, with all caches
// and budgets, in any order, in batches of any size, and with duplicate requests.
#include "slimgraph/remote/list_reader.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/files/slim_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "slimgraph/files/csr.h"
#include "slimgraph/remote/list_server.h"
#include "tests/support/command.h"
#include "tests/support/node_processes.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

std::uint64_t TestSeed() {
  static const std::uint64_t seed = [] {
    const char* const said = std::getenv("SLIMGRAPH_TEST_SEED");
    return said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  }();
  return seed;
}

struct Setting {
  const char* transport;
  std::uint32_t threads;
  CacheOptions cache;
  bool weights;
  Admission admission = Admission::kAtOnce;
};

// Node 0 is the delegate of all other nodes. Each of those serves its part of `file`.
class Delegate {
 public:
  Delegate(Cluster& cluster, const SlimFile& file, const Setting& setting)
      : cluster_(cluster), file_(file), setting_(setting), lists_(Unwrap(ReadCsr(file))) {}

  void Run() {
    const auto read = [this](ListAnswers* answers) { ReadRounds(answers); };
    RunWith(read);
  }

  // Reads the same list of each group, again and again. Groups must be cached when that has cost as
  // much as the whole group, or at once if the list is three quarters of it.
  void ReadOneOfEachGroup() {
    RunWith([this](ListAnswers* answers) {
      ListReader reader(cluster_.fabric().endpoint(0), cluster_.fabric(), answers, false);
      for (std::uint64_t round = 1; round <= 20; ++round) {
        for (const auto& part : parts_) ReadOneOfEachGroup(*part, reader, round);
      }
    });
  }

 private:
  template <typename Read>
  void RunWith(Read read) {
    const bool serve = setting_.cache.side == MemorySide::kServe;
    Fabric& fabric = cluster_.fabric();
    ListAnswers answers(fabric);
    ListServer server(fabric);
    const VertexPart mine = cluster_.computes() ? VertexPart{} : PartOf(cluster_.self());
    const ServedLists served = Unwrap(LoadServedLists(cluster_, file_, mine, Direction::kOut,
                                                      setting_.weights, 0, [](auto...) {}));
    server.Add(served, mine.count, ListCode(file_.vertices()));
    Unwrap(cluster_.all().Barrier());
    if (!cluster_.computes()) {
      Unwrap(server.ServeWhile([&] { return cluster_.all().Barrier(); }));
      return;
    }
    MakeParts(served.regions);
    read(serve ? &answers : nullptr);
    Unwrap(cluster_.all().Barrier());
  }

  void ReadRounds(ListAnswers* answers) {
    // Naive fetching is slow, so it has few rounds, of some lists only.
    const int first_round = setting_.cache.level == CacheLevel::kNaive ? 6 : 0;
    for (int round = first_round; round < 8; ++round) {
      std::vector<Thread> threads;
      std::vector<std::string> failures(setting_.threads);
      for (std::uint32_t t = 0; t < setting_.threads; ++t) {
        threads.emplace_back([&, t] {
          try {
            ReadSome(t, round, answers);
          } catch (const std::exception& failure) {
            failures[t] = failure.what();
          }
        });
      }
      for (Thread& thread : threads) thread.join();
      for (const std::string& failure : failures) EXPECT_EQ(failure, "");
      // In round 0 all lists were cached, if there was room for them.
      const std::uint64_t bytes = cluster_.fabric().traffic().Total().bytes();
      if (round > 0 && caches_all_) {
        EXPECT_EQ(bytes, read_bytes_) << "in round " << round;
      }
      read_bytes_ = bytes;
    }
  }

  void ReadOneOfEachGroup(DelegatedLists& part, ListReader& reader, std::uint64_t round) {
    constexpr std::uint64_t kOperation = 64;  // bytes
    const CompactOffsets& index = *part.index();
    const ListCode code(file_.vertices());
    struct Chosen {
      VertexId group;
      std::uint64_t cost;
      std::uint64_t cost_of_group;
    };
    std::vector<Chosen> chosen;
    std::vector<VertexId> wanted;
    for (VertexId group = 0; group < index.groups(); ++group) {
      const VertexId first = group * CompactOffsets::kGroup;
      const VertexId end = std::min(first + CompactOffsets::kGroup, index.count());
      std::uint64_t bytes = 0;
      std::optional<VertexId> least;  // the first of the shortest lists that are not empty
      for (VertexId v = first; v < end; ++v) {
        bytes += code.Bytes(index.length(v));
        if (index.length(v) == 0) continue;
        if (!least || index.length(v) < index.length(*least)) least = v;
      }
      if (!least) continue;
      wanted.push_back(*least);
      chosen.push_back({group, kOperation + code.Bytes(index.length(*least)), kOperation + bytes});
    }
    reader.StartFetch(part, wanted);
    while (reader.busy()) Unwrap(reader.VisitArrived(true, [](auto&&...) {}));
    std::size_t cached = 0;
    for (const auto& [group, cost, cost_of_group] : chosen) {
      const bool is_cached = part.cache()->form(group) >= EdgeCache::Form::kDecoded;
      EXPECT_EQ(is_cached, 4 * cost >= 3 * cost_of_group || round * cost >= cost_of_group)
          << "group " << group << " in round " << round;
      cached += is_cached ? 1 : 0;
    }
    if (round == 1) {
      EXPECT_LT(cached, chosen.size());
    }
    if (round == 20) {
      EXPECT_GT(cached, 0U);
    }
  }

  VertexPart PartOf(NodeId node) const {
    const NodeId homes = cluster_.topology().nodes() - 1;
    const auto cut = [&](NodeId i) {
      return static_cast<VertexId>(std::uint64_t{file_.vertices()} * i / homes);
    };
    return {cut(node - 1), 1, cut(node) - cut(node - 1)};
  }

  void MakeParts(const ServedRegions& regions) {
    const std::size_t weight_bytes = setting_.weights ? WeightBytes(file_.weight_type()) : 0;
    const std::uint64_t all_bytes = file_.arcs() * (sizeof(VertexId) + weight_bytes);
    const std::uint64_t budget = setting_.cache.edges.Of(all_bytes);
    const ListCode code(file_.vertices());
    std::uint64_t coded_bytes = 0;
    for (NodeId node = 1; node < cluster_.topology().nodes(); ++node) {
      const VertexPart part = PartOf(node);
      for (VertexId v = part.first; v < part.first + part.count; ++v) {
        coded_bytes += code.Bytes(lists_.list(v).size());
      }
      coded_bytes += EdgeCache::CodedBytes(CompactOffsets::Groups(part.count), 0, 0, 0);
    }
    coded_bytes += lists_.neighbours.size() * weight_bytes;
    caches_all_ = setting_.cache.level == CacheLevel::kEdge && budget >= coded_bytes;
    const bool all_decoded = budget >= all_bytes;
    cache_budget_ = Unwrap(CacheBudget::Make(budget, all_decoded ? 0 : coded_bytes));
    for (NodeId node = 1; node < cluster_.topology().nodes(); ++node) {
      const VertexPart part = PartOf(node);
      const EdgeOffset arcs =
          lists_.offsets[std::size_t{part.first} + part.count] - lists_.offsets[part.first];
      parts_.push_back(Unwrap(DelegatedLists::Make(
          cluster_.fabric().endpoint(0),
          {node, part.first, part.count, arcs, regions, weight_bytes, ListCode(file_.vertices())},
          setting_.cache.level, *cache_budget_, all_decoded)));
      if (EdgeCache* const cache = parts_.back()->cache()) cache->SetAdmission(setting_.admission);
    }
  }

  // Draws vertices of a part: in round 0 all of them, later some of them. From round 2 on they are
  // close together or far apart, in any order, and some are duplicates.
  static std::vector<VertexId> Draw(VertexId count, int round, std::mt19937_64& random) {
    std::vector<VertexId> drawn;
    if (round < 2) {
      const unsigned one_in = round == 0 ? 1 : 1U << (random() % 8);
      for (VertexId i = 0; i < count; ++i) {
        if (random() % one_in == 0) drawn.push_back(i);
      }
      return drawn;
    }
    for (std::uint64_t pieces = random() % 200; pieces > 0; --pieces) {
      const std::uint64_t first = random() % count;
      const std::uint64_t width = std::min<std::uint64_t>(count - first, 1U << (random() % 16));
      for (std::uint64_t left = random() % 100; left > 0; --left) {
        drawn.push_back(static_cast<VertexId>(first + random() % width));
      }
    }
    if (random() % 3 == 0) std::sort(drawn.begin(), drawn.end());
    return drawn;
  }

  // Fetches some lists of all parts on one thread. Checks that each requested list of a batch is
  // visited once, and that it equals the file's list.
  void ReadSome(std::uint32_t thread, int round, ListAnswers* answers) {
    std::mt19937_64 random(TestSeed() + thread * 100 + static_cast<unsigned>(round));
    ListReader reader(cluster_.fabric().endpoint(thread), cluster_.fabric(), answers,
                      setting_.cache.level == CacheLevel::kNaive);
    std::vector<int> due(file_.vertices());
    std::span<const VertexId> behind;  // ids after the previous list, if the next is not cached
    const auto look = [&](const DelegatedLists& lists, VertexId i, const Neighbours& found) {
      const VertexId v = lists.part().first + i;
      EXPECT_GE(--due[v], 0) << v;
      const auto wanted = lists_.list(v);
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), found.ids.begin(), found.ids.end()))
          << "the list of " << v;
      if (!behind.empty() && !found.ids.empty()) {
        EXPECT_EQ(found.ids.data(), behind.data()) << v;
        EXPECT_EQ(found.ids.size() + found.ids_following, behind.size()) << v;
      }
      if (setting_.cache.level != CacheLevel::kEdge && !found.ids.empty()) {
        behind = {found.ids.data() + found.ids.size(), found.ids_following};
      }
      if (!setting_.weights || found.ids.empty()) return;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        EXPECT_EQ(found.weight<std::int32_t>(k), lists_.list_weights(v)[k]) << v;
      }
    };
    for (const auto& part : parts_) {
      std::vector<VertexId> wanted;
      EdgeOffset arcs = 0;
      const std::size_t most = round % 2 == 0 ? 5000 : 1 + random() % 300;
      const auto start = [&] {
        while (!reader.has_room()) Unwrap(reader.VisitArrived(true, look));
        for (const VertexId i : std::set<VertexId>(wanted.begin(), wanted.end())) {
          ++due[part->part().first + i];
        }
        reader.StartFetch(*part, wanted);
        EXPECT_TRUE(wanted.empty());
        arcs = 0;
      };
      for (const VertexId i : Draw(part->part().count, round, random)) {
        wanted.push_back(i);
        arcs += part->ExpectedLength(i);
        if (reader.IsBatch(wanted.size(), arcs) || wanted.size() >= most) start();
      }
      if (!wanted.empty()) start();
    }
    while (reader.busy()) Unwrap(reader.VisitArrived(true, look));
    EXPECT_EQ(std::count(due.begin(), due.end(), 0), file_.vertices());
  }

  Cluster& cluster_;
  const SlimFile& file_;
  Setting setting_;
  Csr lists_;
  std::unique_ptr<CacheBudget> cache_budget_;
  bool caches_all_ = false;
  std::uint64_t read_bytes_ = 0;
  std::vector<std::unique_ptr<DelegatedLists>> parts_;
};

class ListReaderOver : public ::testing::TestWithParam<const char*> {
 protected:
  // A star around vertex 5, whose list is longer than any batch, and 200,000 random edges.
  void SetUp() override {
    std::mt19937_64 random(TestSeed());
    const VertexId vertices = 300'000;
    EdgeList edges{.vertices = vertices, .edges = {}, .weights = {}, .directed = true};
    const auto add = [&](VertexId src, VertexId dst) {
      edges.edges.push_back({src, dst});
      edges.weights.push_back(static_cast<double>(1 + random() % 200));
    };
    for (VertexId v = 0; v < vertices; ++v) add(5, v);
    for (int i = 0; i < 200'000; ++i) {
      const auto src = static_cast<VertexId>(random() % (1 + random() % vertices));
      add(src, static_cast<VertexId>(random() % vertices));
    }
    ASSERT_TRUE(WriteSlimFile(edges, path_));
  }

  void OnNodes(const Setting& setting, void (Delegate::*run)()) {
    ExpectNodesRun(3, [&](Job& job) {
      auto cluster = Unwrap(Cluster::Start(
          job, {.compute = 1, .threads = setting.threads, .transport = setting.transport}));
      const SlimFile file = Unwrap(SlimFile::Open(path_));
      Delegate delegate(*cluster, file, setting);
      (delegate.*run)();
      Unwrap(cluster->Stop());
    });
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.File("star.slim");
};
INSTANTIATE_TEST_SUITE_P(Transports, ListReaderOver, ::testing::Values("shm", "tcp"),
                         [](const auto& transport) { return std::string(transport.param); });

TEST_P(ListReaderOver, FetchesEachListAsInTheFile) {
  SCOPED_TRACE("SLIMGRAPH_TEST_SEED=" + std::to_string(TestSeed()));
  const auto cache = [](CacheLevel level, EdgeBudget edges, MemorySide side) {
    return CacheOptions{.level = level, .edges = edges, .side = side};
  };
  std::vector<Setting> settings;
  std::uint32_t turn = 0;
  for (const MemorySide side : {MemorySide::kStrict, MemorySide::kServe}) {
    const std::vector<CacheOptions> caches = {
        cache(CacheLevel::kNone, {}, side),
        cache(CacheLevel::kBitmap, {}, side),
        cache(CacheLevel::kIndex, {}, side),
        cache(CacheLevel::kEdge, {.bytes = 0, .in_percent = false}, side),
        cache(CacheLevel::kEdge, {.bytes = 1, .in_percent = false}, side),
        cache(CacheLevel::kEdge, {.percent = 5}, side),
        cache(CacheLevel::kEdge, {.percent = 40}, side),
        cache(CacheLevel::kEdge, {.percent = 80}, side),
        cache(CacheLevel::kEdge, {.percent = 100}, side)};
    for (const CacheOptions& one : caches) {
      settings.push_back({GetParam(), 1U << (turn % 3), one, turn % 2 == 0});
      ++turn;
    }
  }
  settings.push_back({GetParam(), 1, cache(CacheLevel::kNaive, {}, MemorySide::kStrict), true});
  for (const double percent : {5, 40, 80, 100}) {
    const auto side = percent == 80 ? MemorySide::kServe : MemorySide::kStrict;
    settings.push_back({GetParam(), percent == 40 ? 1U : 2U,
                        cache(CacheLevel::kEdge, {.percent = percent}, side), percent >= 80,
                        Admission::kWhenPaid});
  }
  for (const Setting& setting : settings) OnNodes(setting, &Delegate::Run);
}

TEST_P(ListReaderOver, CachesAGroupOnceItIsPaid) {
  SCOPED_TRACE("SLIMGRAPH_TEST_SEED=" + std::to_string(TestSeed()));
  const CacheOptions all{.level = CacheLevel::kEdge, .edges = {.percent = 100}};
  OnNodes({GetParam(), 1, all, false, Admission::kWhenPaid}, &Delegate::ReadOneOfEachGroup);
}

}  // namespace
}  // namespace slimgraph
