#include "tests/support/graphs.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "slimgraph/files/csr.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph::test {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "slimgraph-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> ScratchFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void WriteFile(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

std::string ReadFile(const std::string& path) {
  std::ostringstream contents;
  contents << std::ifstream(path, std::ios::binary).rdbuf();
  return contents.str();
}

std::mt19937_64 SeededRandom() {
  const char* said = std::getenv("SLIMGRAPH_TEST_SEED");
  const std::uint64_t seed =
      said != nullptr ? std::strtoull(said, nullptr, 10) : std::random_device{}();
  std::cout << "SLIMGRAPH_TEST_SEED=" << seed << "\n";
  return std::mt19937_64(seed);
}

PlainGraph ReadPlain(const std::string& slim_path, Direction direction) {
  PlainGraph plain;
  const Result<SlimFile> file = SlimFile::Open(slim_path);
  EXPECT_OK(file);
  if (!file) return plain;
  const Result<OriginalIds> ids = file->ReadOriginalIds();
  const Result<Csr> csr = ReadCsr(*file, direction);
  EXPECT_OK(ids);
  EXPECT_OK(csr);
  if (!ids || !csr) return plain;
  for (VertexId v = 0; v < csr->vertices(); ++v) {
    plain.vertices.push_back((*ids)[v]);
    const auto list = csr->list(v);
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double weight = csr->weights.empty() ? 0 : csr->list_weights(v)[i];
      plain.arcs[{(*ids)[v], (*ids)[list[i]]}].push_back(weight);
    }
  }
  return plain;
}

PlainGraph Converted(const std::string& name, const std::string& contents, ConvertOptions options) {
  const ScratchFolder folder;
  WriteFile(folder / name, contents);
  options.in = folder / name;
  options.out = folder / "out.slim";
  const auto report = Convert(options);
  EXPECT_OK(report);
  return report ? ReadPlain(options.out) : PlainGraph();
}

std::string ConversionError(const std::string& name, const std::string& contents,
                            ConvertOptions options) {
  const ScratchFolder folder;
  WriteFile(folder / name, contents);
  options.in = folder / name;
  options.out = folder / "out.slim";
  const auto report = Convert(options);
  if (report) return "";
  EXPECT_EQ(folder.Names(), std::vector<std::string>{name}) << "a failed conversion left a file";
  std::string message = report.error().message;
  const std::string prefix = folder.path() + "/";
  for (std::size_t at; (at = message.find(prefix)) != std::string::npos;) {
    message.erase(at, prefix.size());
  }
  return message;
}

}  // namespace slimgraph::test
