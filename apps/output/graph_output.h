// The .slim file that a command writes: a file or, if its name is "-", standard output.
#pragma once

#include <string>

#include "slimgraph/base/result.h"

namespace slimgraph {

class GraphOutput {
 public:
  // An error if standard output is a terminal, or is to have a JSON object too.
  static Result<GraphOutput> Create(const std::string& path, bool json);

  GraphOutput(GraphOutput&& other) noexcept;
  GraphOutput& operator=(GraphOutput&&) = delete;
  ~GraphOutput();

  bool is_standard_output() const { return !folder_.empty(); }
  // Where to write the file.
  const std::string& path() const { return path_; }
  // Once the file is written: copies it to standard output, if it is to be there.
  Status Finish() const;

 private:
  GraphOutput() = default;

  std::string path_;
  std::string folder_;  // for standard output: holds the file until it is copied
};

// Prints the text about a graph that was written: on standard error if the graph is on standard
// output. Returns the exit code.
int PrintAbout(const GraphOutput& output, const std::string& text);

}  // namespace slimgraph
