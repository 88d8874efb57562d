// A plot as data: what is drawn, and told in a table, is decided elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/spread.h"

namespace slimgraph::experiment {

enum class PlotKind {
  kBars,    // categories along x, a bar of each series in each
  kLines,   // numbers along x
  kScatter  // numbers along both
};

struct Mark {
  double x = 0;  // of bars, the category's place in the list
  Spread y;
  std::string label;  // what it is, where x does not say it
  bool told = false;  // scatter: the label is drawn
};

struct Series {
  std::string name;
  std::vector<Mark> marks;
  std::size_t look = 0;  // its colour and shape: the same for the same thing in all plots
};

// A value from elsewhere, drawn as such: an ideal, or what a paper has found. A range where low and
// high differ.
struct Reference {
  std::string name;
  double low = 0;
  double high = 0;
  std::optional<double> x = {};            // bars: the category that it belongs to; otherwise all
  std::optional<std::size_t> series = {};  // bars: the series, of that category or of all
};

struct Plot {
  PlotKind kind = PlotKind::kBars;
  std::string x_title;
  std::string y_title;
  std::vector<std::string> categories;
  std::vector<Series> series;
  std::vector<Reference> references;
  bool log_x = false;
  bool log_y = false;
};

struct Figure {
  std::string title;
  std::string answer;  // one sentence; what a hurried reader takes away
  Plot plot;

  bool empty() const {
    for (const Series& series : plot.series) {
      if (!series.marks.empty()) return false;
    }
    return true;
  }
};

}  // namespace slimgraph::experiment
