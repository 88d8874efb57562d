// The page of an experiment: one self-contained HTML file without scripts and network access, for
// light mode, dark mode and print.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiment/page/figure.h"

namespace slimgraph::experiment {

struct Section {
  std::string name;
  std::string title;
  std::string question;
  std::vector<std::string> notes;  // how the runs were done
  std::vector<Figure> figures;
  std::vector<std::string> missing;  // what was not measured, and why
  std::string verified;              // how many of the points were verified
  std::vector<std::string> commands;
};

struct Page {
  std::string title;
  std::vector<std::string> summary;                        // how it ended, how to read it
  std::vector<std::pair<std::string, std::string>> facts;  // the machine, the commit, …
  std::vector<Section> sections;
};

std::string ToHtml(const Page& page);

// A figure's plot as a separate file for any image viewer.
std::string ToSvgFile(const Figure& figure);

// A figure's numbers, with a row for each mark.
std::string ToCsv(const Figure& figure);

}  // namespace slimgraph::experiment
