// The eight updates of LDBC's Social Network Benchmark (interactive, IU 1 to 8). Each is one
// transaction on all its records: a new person, like of a post, like of a comment, forum,
// membership, post, comment and friendship. The store's graph has no kinds of vertices. A hash of a
// vertex's name decides whether it is a person, a forum, a post, a comment, a place, a tag or an
// organisation. Vertices are chosen by degree.
#include <algorithm>

#include "txnlayer/workload/internal/graph_workload.h"

namespace slimgraph::txn {
namespace {

enum UpdateKind : std::size_t {
  kMembership,
  kLikePost,
  kComment,
  kLikeComment,
  kPost,
  kFriendship,
  kForum,
  kPerson,
};
constexpr MixEntry kMix[] = {{"membership", 47.44},   {"like_post", 14.97}, {"comment", 14.85},
                             {"like_comment", 13.94}, {"post", 6.95},       {"friendship", 1.21},
                             {"forum", 0.60},         {"person", 0.03}};

enum class Role : std::uint8_t { kPerson, kForum, kPost, kComment, kTag, kPlace, kOrganisation };

// Each role gets some sixteenths of all vertices.
Role RoleOf(VertexName name) {
  constexpr Role kRoles[16] = {Role::kPerson,  Role::kPerson,  Role::kPerson,  Role::kPerson,
                               Role::kForum,   Role::kForum,   Role::kPost,    Role::kPost,
                               Role::kPost,    Role::kComment, Role::kComment, Role::kComment,
                               Role::kComment, Role::kTag,     Role::kPlace,   Role::kOrganisation};
  return kRoles[Mix(name) % 16];
}
// A small graph may have no vertex of a role.
constexpr int kMostUpdateTries = 200;

class SnbClient : public GraphClient {
 public:
  using GraphClient::GraphClient;

 protected:
  void Prepare(std::size_t kind, Chooser& chooser) override {
    edges_.clear();
    fresh_.reset();
    date_ = chooser.EdgeProperties();
    // Chooses the ends of the single edge, or the vertices to which the new vertex is joined.
    switch (kind) {
      case kMembership:
        return Join(Of(chooser, Role::kForum), Of(chooser, Role::kPerson));
      case kLikePost:
        return Join(Of(chooser, Role::kPerson), Of(chooser, Role::kPost));
      case kLikeComment:
        return Join(Of(chooser, Role::kPerson), Of(chooser, Role::kComment));
      case kFriendship:
        return Join(Of(chooser, Role::kPerson), Of(chooser, Role::kPerson));
      default:
        break;
    }
    fresh_ = chooser.Fresh();
    vertex_ = chooser.Properties(shape().vertex_bytes);
    const auto join = [&](Role role, std::uint64_t most = 1) {
      const std::uint64_t count = most == 1 ? 1 : Below(chooser.random(), most + 1);
      for (std::uint64_t i = 0; i < count; ++i) Join(*fresh_, Of(chooser, role));
    };
    switch (kind) {
      case kPerson:  // lives in, is interested in, has studied at, has worked at
        join(Role::kPlace);
        join(Role::kTag, 10);
        join(Role::kOrganisation, 2);
        join(Role::kOrganisation, 3);
        break;
      case kForum:  // is moderated by, is about
        join(Role::kPerson);
        join(Role::kTag, 5);
        break;
      case kPost:  // was written by, in, at, is about
        join(Role::kPerson);
        join(Role::kForum);
        join(Role::kPlace);
        join(Role::kTag, 4);
        break;
      default:  // was written by, as a reply to, at, is about
        join(Role::kPerson);
        join(Chance(chooser.random(), 0.5) ? Role::kPost : Role::kComment);
        join(Role::kPlace);
        join(Role::kTag, 3);
    }
  }

  Answer Do(std::size_t, GraphTransaction& graph) override {
    if (fresh_ && graph.AddVertex(*fresh_, vertex_) == Answer::kAborted) return Answer::kAborted;
    for (const auto& [one, other] : edges_) {
      if (graph.AddEdge(one, other, date_) == Answer::kAborted) return Answer::kAborted;
    }
    return Answer::kYes;
  }

 private:
  static VertexName Of(Chooser& chooser, Role role) {
    VertexName name = chooser.ByDegree();
    for (int i = 0; RoleOf(name) != role && i < kMostUpdateTries; ++i) name = chooser.ByDegree();
    return name;
  }
  void Join(VertexName one, VertexName other) { edges_.emplace_back(one, other); }

  std::optional<VertexName> fresh_;
  std::vector<std::pair<VertexName, VertexName>> edges_;
  std::vector<std::byte> vertex_;
  std::vector<std::byte> date_;
};

class SnbWorkload : public GraphWorkload {
 public:
  explicit SnbWorkload(const WorkloadOptions& options) : GraphWorkload(options, kMix) {}
  std::string_view name() const override { return "snb-updates"; }
  std::unique_ptr<Client> MakeClient(Transaction& transaction) override {
    return Make<SnbClient>(transaction);
  }
};

}  // namespace

std::unique_ptr<Workload> MakeSnbUpdates(const WorkloadOptions& options) {
  return std::make_unique<SnbWorkload>(options);
}

}  // namespace slimgraph::txn
