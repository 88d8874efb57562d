#include "apps/measure/lab.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "apps/job/job_runner.h"

namespace slimgraph {
namespace {

namespace fs = std::filesystem;

bool HasLab(const fs::path& folder) {
  std::error_code failed;
  return fs::exists(folder / "slimgraph/lab/__main__.py", failed);
}

// The folder of packages that contains the lab; empty if there is none.
fs::path FolderOfLab(const fs::path& program) {
  for (fs::path above = program.parent_path(); above != above.root_path();
       above = above.parent_path()) {
    for (const char* const below : {"python", "share/slimgraph/python", ""}) {
      if (HasLab(above / below)) return above / below;
    }
    // PREFIX/lib/python3.11/site-packages, of a virtual environment or of the system.
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(above / "lib", failed)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      for (const char* const packages : {"site-packages", "dist-packages"}) {
        if (HasLab(entry.path() / packages)) return entry.path() / packages;
      }
    }
  }
  return {};
}

}  // namespace

Result<std::string> ThisProgram() {
  std::error_code failed;
  const auto path = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return EnvironmentError("cannot find this program's file: {}", failed.message());
  return path.string();
}

Error BecomeLab(const Report& request) {
  const auto found = ThisProgram();
  if (!found) return found.error();
  const fs::path program = *found;
  const fs::path folder = FolderOfLab(program);
  if (folder.empty()) {
    return {ErrorKind::kEnvironment,
            fmt::format("the Python package slimgraph.lab is neither near {} nor below its prefix: "
                        "install both together, by make install or pip",
                        program.string())};
  }
  const char* const others = std::getenv("PYTHONPATH");
  const std::string path = folder.string() + (others != nullptr ? ":" + std::string(others) : "");
  ::setenv("PYTHONPATH", path.c_str(), 1);
  ::setenv("PYTHONSAFEPATH", "1", 1);  // files of the current folder are no modules

  // The interpreter of the virtual environment that has the package, or the one in PATH.
  std::string python = folder / "../../../bin/python3";
  const bool in_environment = folder.filename().string().ends_with("-packages");
  if (!in_environment || ::access(python.c_str(), X_OK) != 0) python = "python3";
  const std::string json = ToJson(request);
  // -B: nothing is written into the source tree or the prefix.
  std::array<const char*, 6> words = {python.c_str(),  "-B",         "-m",
                                      "slimgraph.lab", json.c_str(), nullptr};
  ::execvp(python.c_str(), const_cast<char* const*>(words.data()));
  return {ErrorKind::kEnvironment,
          fmt::format("cannot start {}: {}; install Python 3 (apt: python3)", python,
                      std::strerror(errno))};
}

}  // namespace slimgraph
