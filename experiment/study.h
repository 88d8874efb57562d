// A study: runs of slimgraph that answer one question, each given by its command line, and the
// figures made of their reports.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/page/figure.h"
#include "experiment/results.h"
#include "slimgraph/base/types.h"

namespace slimgraph::experiment {

// A graph of the study.
struct Graph {
  std::string path;
  std::string name;    // the file's name without folder and ".slim"
  std::string stamp;   // changes when the file changes
  std::string source;  // the original id of the vertex of highest degree, where searches start
  double edges = 0;
  bool directed = false;
  bool weighted = false;
  std::string store = {};  // a store of the same graph, for transactions; "": none
};

// The settings of all studies.
struct Settings {
  std::vector<Graph> graphs;
  bool small = false;
  NodeId nodes = 4;
  std::uint32_t threads = 1;
  std::string network = "fdr";
  std::string transport;          // "": the default
  bool limited = false;           // whether nodes can be limited to shares of a processor
  double processors = 1;          // processors that the nodes share
  std::uint64_t node_memory = 0;  // 0: no limit
  std::string plain_program;      // slimgraph whose engines are built without memory nodes
  std::string plain_build;        // its stamp; "": it does not exist
};

// Points that are compared with each other. Each runs once per round, so all of them meet the same
// state of the machine. The first is the baseline.
struct PointGroup {
  std::string name;
  std::vector<Point> points;
  std::string measure;  // a path of the reports; runs repeat until its median is tight
};

struct Study {
  std::string name;
  std::string title;
  std::string question;
  std::vector<std::string> notes;  // how the runs were done
  std::vector<PointGroup> groups;
  std::function<std::vector<Figure>(const Results&)> figures;
};

struct StudyKind {
  const char* name;
  const char* summary;
  Study (*make)(const Settings&);
};

// In the order in which the page shows them.
const std::vector<StudyKind>& AllStudies();

}  // namespace slimgraph::experiment
