// Checks what a reader can see of the page's plots. Returns a list of complaints and counts.
(() => {
  const complaints = [];
  const counts = {figures: 0, marks: 0, labels: 0};
  const inside = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1 &&
      inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 &&
      b.top < a.bottom - 3;
  for (const figure of document.querySelectorAll('figure')) {
    const title = figure.querySelector('h3').textContent;
    const complain = text => complaints.push(title + ': ' + text);
    const svg = figure.querySelector('svg');
    const frame = svg.getBoundingClientRect();
    ++counts.figures;
    const marks = svg.querySelectorAll('.mark');
    if (marks.length === 0) complain('no marks');
    for (const mark of marks) {
      ++counts.marks;
      const box = mark.getBoundingClientRect();
      if (box.width < 1 || box.height < 0.5) complain('a mark that cannot be seen');
      if (!inside(box, frame)) complain('a mark outside');
      if (!mark.querySelector('title').textContent) complain('a mark without a name');
      const fill = getComputedStyle(mark.querySelector('use') || mark.querySelector('path')).fill;
      if (fill === 'none' || fill === 'rgb(0, 0, 0)') complain('a mark without its colour');
      const pattern = /#([^")]+)/.exec(fill);
      if (pattern && !document.getElementById(pattern[1])) complain('no pattern ' + pattern[1]);
    }
    const boxes = [];
    for (const text of svg.querySelectorAll('text')) {
      ++counts.labels;
      const box = text.getBoundingClientRect();
      if (!text.textContent.trim()) complain('an empty label');
      if (!inside(box, frame)) complain('a label outside: ' + text.textContent);
      for (const [other, name] of boxes) {
        if (overlap(box, other)) complain('labels overlap: ' + text.textContent + ', ' + name);
      }
      boxes.push([box, text.textContent]);
    }
    if (svg.querySelectorAll('.tick.y').length < 2) complain('no numbers at the y axis');
    if (svg.querySelectorAll('.tick.x').length < 1) complain('nothing at the x axis');
    if (!svg.querySelector('.title.y text')) complain('the y axis has no title');
    if (svg.querySelectorAll('.legend').length < 1) complain('no legend');
    if (!figure.querySelector('.answer').textContent.endsWith('.')) complain('no answer');
    if (figure.querySelectorAll('table tr').length < 2) complain('no table');
  }
  const style = getComputedStyle(document.body);
  return {complaints, counts, paper: style.backgroundColor, ink: style.color,
          wide: document.documentElement.scrollWidth > window.innerWidth};
})()
