// What the tests of graph/ share: a scratch folder, seeded randomness, and a graph as a plain map
// that knows nothing of the code under test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "slimgraph/graph/convert.h"
#include "slimgraph/graph/slim_file.h"

namespace slimgraph::test {

// A folder that goes with everything in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  std::vector<std::string> Names() const;

 private:
  std::filesystem::path path_;
};

void WriteFile(const std::string& path, const std::string& contents);
std::string ReadFile(const std::string& path);

// Prints its seed; SLIMGRAPH_TEST_SEED takes it back.
std::mt19937_64 SeededRandom();

// Arcs by original ids, with weights (0 without) in ascending order: what a graph is, in short.
struct PlainGraph {
  std::vector<std::uint64_t> vertices;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<double>> arcs;
  bool operator==(const PlainGraph&) const = default;
};
PlainGraph ReadPlain(const std::string& slim_path, Direction direction = Direction::kOut);

// The error's message, or "" if there is none.
template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? "" : result.error().message;
}

// What a conversion of `contents` under `name` says: its error without the folder's path, or "".
std::string ConversionError(const std::string& name, const std::string& contents,
                            ConvertOptions options = {});

}  // namespace slimgraph::test

#define ASSERT_OK(result) ASSERT_TRUE((result).has_value()) << (result).error().message
#define EXPECT_OK(result) EXPECT_TRUE((result).has_value()) << (result).error().message
