#include "tests/apps/store_support.h"

#include <fmt/format.h>
#include <cstdlib>

#include <filesystem>
#include <iostream>

#include "slimgraph/files/csr.h"
#include "slimgraph/files/original_ids.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph {

std::uint64_t StoreSeed() {
  const char* const given = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "SLIMGRAPH_TEST_SEED=" << seed << std::endl;
  return seed;
}

Lists ListsOf(const std::string& path) {
  const auto file = SlimFile::Open(path);
  EXPECT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->CheckAll());
  const auto csr = ReadCsr(*file);
  const auto ids = file->ReadOriginalIds();
  EXPECT_TRUE(csr && ids);
  Lists lists;
  std::uint64_t twice = 0;
  for (VertexId v = 0; v < csr->vertices(); ++v) {
    auto& list = lists[(*ids)[v]];
    for (std::size_t i = 0; i < csr->degree(v); ++i) {
      list[(*ids)[csr->list(v)[i]]] = csr->weights.empty() ? 0 : csr->list_weights(v)[i];
    }
    if (file->directed()) continue;
    twice += csr->degree(v) + (list.contains((*ids)[v]) ? 1 : 0);
  }
  if (!file->directed()) {
    EXPECT_EQ(twice, 2 * file->edges());
    return lists;
  }
  EXPECT_EQ(csr->neighbours.size(), file->edges());
  const auto incoming = ReadCsr(*file, Direction::kIn);
  EXPECT_TRUE(incoming);
  EXPECT_EQ(incoming->neighbours.size(), file->edges());
  for (VertexId v = 0; v < incoming->vertices(); ++v) {
    for (std::size_t i = 0; i < incoming->degree(v); ++i) {
      const auto& list = lists[(*ids)[incoming->list(v)[i]]];
      const auto edge = list.find((*ids)[v]);
      EXPECT_TRUE(edge != list.end()) << incoming->list(v)[i] << " " << v;
      if (edge == list.end()) continue;
      EXPECT_EQ(edge->second, incoming->weights.empty() ? 0 : incoming->list_weights(v)[i]);
    }
  }
  return lists;
}

std::string Updates::Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += Line() + "\n";
  return text;
}

std::uint64_t Updates::Any() {
  auto at = lists_.begin();
  std::advance(at, random_() % lists_.size());
  return at->first;
}

std::string Updates::Line() {
  const auto kind = random_() % 20;
  if (kind == 0 || lists_.size() < 3) {
    const std::uint64_t name = random_() % 200;
    lists_[name];
    return fmt::format("+v {}{}", name, random_() % 2 == 0 ? " 0aFf" : "");
  }
  const std::uint64_t u = Any();
  if (kind == 1) {
    for (auto& [v, list] : lists_) list.erase(u);
    lists_.erase(u);
    return fmt::format("-v {}", u);
  }
  if (kind == 2) return "# a remark";
  const std::uint64_t v = Any();
  if (kind < 12) {
    const std::uint64_t weight = weighted_ ? random_() % 100 : 0;
    lists_[u][v] = static_cast<double>(weight);
    if (!directed_) lists_[v][u] = static_cast<double>(weight);
    return fmt::format("+ {} {}{}{}", u, v, weighted_ ? fmt::format(" {}", weight) : "",
                       random_() % 3 == 0 ? " 01" : "");
  }
  lists_[u].erase(v);
  if (!directed_) lists_[v].erase(u);
  return fmt::format("- {} {}", u, v);
}

void Stores::WriteGraph(bool directed, bool weighted) {
  EdgeList list;
  list.vertices = 50;
  list.directed = directed;
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    list.edges.push_back(
        {static_cast<VertexId>(random() % 50), static_cast<VertexId>(random() % 50)});
  }
  for (int i = 0; i < 200 && weighted; ++i) {
    list.weights.push_back(static_cast<double>(random() % 100));
  }
  ASSERT_TRUE(WriteSlimFile(list, graph_));
}

void Stores::Create() {
  std::filesystem::remove_all(store_);
  const CommandEnd end = RunSlimgraph(
      {"store", "create", graph_, "--vertex-bytes", "4", "--edge-bytes", "3", "-o", store_});
  ASSERT_EQ(end.code, 0) << end.err;
}

CommandEnd Stores::Apply(const std::string& from, const std::vector<std::string>& more) const {
  std::vector<std::string> words = {"store", "apply", store_, "--from", from, "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return RunSlimgraph(words);
}

Lists Stores::Exported(const std::vector<std::string>& more) const {
  std::vector<std::string> words = {"store", "export", store_, "-o", scratch_.File("out.slim")};
  words.insert(words.end(), more.begin(), more.end());
  const CommandEnd end = RunSlimgraph(words);
  EXPECT_EQ(end.code, 0) << end.err;
  return ListsOf(scratch_.File("out.slim"));
}

std::string Stores::Field(const CommandEnd& end, const std::string& name) {
  const std::size_t at = end.out.find("\"" + name + "\":");
  EXPECT_NE(at, std::string::npos) << end.out;
  const std::size_t begin = at + name.size() + 3;
  return end.out.substr(begin, end.out.find_first_of(",}", begin) - begin);
}

}  // namespace slimgraph
