#include "tests/support/segments.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace slimgraph {
namespace {

bool IsMapped(const std::string& name) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    std::ifstream maps(entry.path() / "maps");
    std::string line;
    while (std::getline(maps, line)) {
      if (line.find("/dev/shm/" + name) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

std::set<std::string> Segments(std::string_view transport) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    names.insert(entry.path().filename().string());
  }
  if (transport != "mpi") return names;
  std::ifstream system_five("/proc/sysvipc/shm");
  std::string line;
  std::getline(system_five, line);
  while (std::getline(system_five, line)) {
    std::istringstream words(line);
    std::string key, id, rights, bytes, creator, last, users;
    words >> key >> id >> rights >> bytes >> creator >> last >> users;
    if (users == "0") names.insert("shmid " + id);
  }
  return names;
}

std::string SegmentsLeftSince(const std::set<std::string>& before, std::string_view transport) {
  std::string left;
  for (int tries = 0; tries < 50; ++tries) {
    left.clear();
    for (const std::string& name : Segments(transport)) {
      if (!before.contains(name) && !IsMapped(name)) left += " " + name;
    }
    if (left.empty()) break;
    ::usleep(100'000);
  }
  return left;
}

}  // namespace slimgraph
