// Shared by the tests of files/ and graph/: a scratch folder, seeded randomness, and a graph as a
// plain map that is independent of the code under test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "slimgraph/files/convert.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph::test {

// A folder that is removed with its contents by the destructor.
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

// Prints the seed. Set SLIMGRAPH_TEST_SEED to use the same seed again.
std::mt19937_64 SeededRandom();

// A graph in comparable form: arcs by original ids, each with its weights (0 if unweighted) in
// ascending order.
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

// Converts `contents` as a file called `name`.
PlainGraph Converted(const std::string& name, const std::string& contents, ConvertOptions options);

// Converts `contents` as a file called `name`. Returns the error without the folder's path, or "".
std::string ConversionError(const std::string& name, const std::string& contents,
                            ConvertOptions options = {});

}  // namespace slimgraph::test

#define ASSERT_OK(result) ASSERT_TRUE((result).has_value()) << (result).error().message
#define EXPECT_OK(result) EXPECT_TRUE((result).has_value()) << (result).error().message
