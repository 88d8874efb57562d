#include "experiment/raw_runs.h"

#include <algorithm>
#include <filesystem>

#include "slimgraph/base/file_io.h"
#include "slimgraph/stats/report.h"

namespace slimgraph::experiment {
namespace {

Result<std::string> ReadAll(const std::string& path) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path));
  SLIM_ASSIGN(const std::uint64_t bytes, FileSize(fd, path));
  std::string text(bytes, '\0');
  SLIM_TRY(ReadExactlyAt(fd, path, 0, std::as_writable_bytes(std::span(text))));
  return text;
}

RawRun FromLine(JsonValue line) {
  const JsonValue* const report = line.Find("/report");
  if (report == nullptr) {
    RawRun run;
    run.report = std::move(line);
    return run;
  }
  return {line.TextAt("/study"),    line.TextAt("/point"),
          line.TextAt("/build"),    line.TextAt("/inputs"),
          line.TextAt("/began"),    line.NumberAt("/seconds").value_or(0),
          line.IsTrue("/verified"), *report};
}

Status ParseLines(const std::string& path, std::string_view text, std::vector<RawRun>& runs) {
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    SLIM_ASSIGN(JsonValue value, ParseJson(line, fmt::format("{}:{}", path, number)));
    runs.push_back(FromLine(std::move(value)));
  }
  return {};
}

Status ReadFile(const std::string& path, std::vector<RawRun>& runs) {
  SLIM_ASSIGN(const std::string text, ReadAll(path));
  // A file with one object formatted over many lines.
  if (const auto whole = ParseJson(text, path); whole && whole->object() != nullptr) {
    runs.push_back(FromLine(*whole));
    return {};
  }
  const bool of_experiment = text.starts_with("{\"schema\":") && text.find("\"study\":") < 100;
  const std::size_t whole_lines = text.rfind('\n') + 1;  // 0 if there is no line end
  return ParseLines(
      path, std::string_view(text).substr(0, of_experiment ? whole_lines : text.size()), runs);
}

std::string RawFolder(const std::string& folder) { return folder + "/raw"; }

}  // namespace

Result<std::vector<RawRun>> ReadRuns(const std::string& path) {
  std::vector<RawRun> runs;
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) {
    SLIM_TRY(ReadFile(path, runs));
    return runs;
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(RawFolder(path), failed)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  }
  if (files.empty())
    return InputError("{} is not the folder of an experiment: no raw/*.jsonl", path);
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) SLIM_TRY(ReadFile(file, runs));
  return runs;
}

Result<RunLog> RunLog::Open(const std::string& folder, const std::string& study,
                            std::vector<RawRun>& runs) {
  std::error_code failed;
  std::filesystem::create_directories(RawFolder(folder), failed);
  if (failed) return EnvironmentError("cannot make {}: {}", RawFolder(folder), failed.message());
  const std::string path = RawFolder(folder) + "/" + study + ".jsonl";
  SLIM_ASSIGN(OutputFile file, OutputFile::Open(path));
  SLIM_ASSIGN(const std::string text, ReadAll(path));
  const std::size_t whole_lines = text.rfind('\n') + 1;
  SLIM_TRY(ParseLines(path, std::string_view(text).substr(0, whole_lines), runs));
  if (whole_lines < text.size()) SLIM_TRY(file.Truncate(whole_lines));
  return RunLog(std::move(file), whole_lines);
}

Status RunLog::Add(const RawRun& run, const std::string& report) {
  Report line("experiment");
  line.Set("/study", run.study);
  line.Set("/point", run.point);
  line.Set("/build", run.build);
  line.Set("/inputs", run.inputs);
  line.Set("/began", run.began);
  line.Set("/seconds", run.seconds);
  line.Set("/verified", run.verified);
  std::string text = ToJson(line);
  text.pop_back();
  text += ",\"report\":" + report + "}\n";
  if (const Status wrote = file_.WriteAt(bytes_, std::as_bytes(std::span(text))); !wrote) {
    static_cast<void>(file_.Truncate(bytes_));
    return EnvironmentError("{}; earlier runs are kept in it", wrote.error().message);
  }
  bytes_ += text.size();
  return {};
}

}  // namespace slimgraph::experiment
