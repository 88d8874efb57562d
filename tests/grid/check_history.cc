// check_history strict|serializable FILE: checks whether a list-append history is (strictly)
// serializable. If not, prints the violation and exits with code 1.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/list_append_checker.h"

int main(int argc, char** argv) {
  using slimgraph::test::Level;
  std::ifstream file(argc == 3 ? argv[2] : "");
  if (!file) {
    std::fprintf(stderr, "usage: check_history strict|serializable FILE\n");
    return 2;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const bool strict = std::string(argv[1]) == "strict";
  const std::string wrong = slimgraph::test::CheckListAppend(
      lines, strict ? Level::kStrictSerializable : Level::kSerializable);
  if (wrong.empty()) return 0;
  std::printf("%s\n", wrong.c_str());
  return 1;
}
