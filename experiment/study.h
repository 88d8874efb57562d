// A study: runs of slimgraph that answer one question, each by its command line, and what becomes
// of their reports.
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
  std::string name;    // the file's, without the folder and ".slim"
  std::string stamp;   // changes when the file does
  std::string source;  // the original id of its busiest vertex, where searches start
  double edges = 0;
  bool directed = false;
  bool weighted = false;
  std::string store = {};  // the same to be changed by transactions; "": there is none
};

// What all studies are asked for.
struct Settings {
  std::vector<Graph> graphs;
  bool small = false;
  NodeId nodes = 4;
  std::uint32_t threads = 1;
  std::string network = "fdr";
  std::string transport;          // "": the default
  bool limited = false;           // whether nodes can be given shares of a processor
  double processors = 1;          // that nodes share
  std::uint64_t node_memory = 0;  // 0: no limit
  std::string plain_program;      // slimgraph with engines that know of no memory nodes
  std::string plain_build;        // its stamp; "": it is not there
};

// Runs that are compared with each other: each is run once in a round, so that all meet the same
// machine. The first is the baseline.
struct Turn {
  std::string name;
  std::vector<Point> points;
  std::string measure;  // what shall be tight, a path of the reports
};

struct Study {
  std::string name;
  std::string title;
  std::string question;
  std::vector<std::string> notes;  // what a reader should know of how it was done
  std::vector<Turn> turns;
  std::function<std::vector<Figure>(const Results&)> figures;
};

struct StudyKind {
  const char* name;
  const char* summary;
  Study (*make)(const Settings&);
};

// In the order of the page.
const std::vector<StudyKind>& AllStudies();

}  // namespace slimgraph::experiment
