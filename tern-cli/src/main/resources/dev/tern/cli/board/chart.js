// A line chart with axes, a legend that reads out values, a cursor and zoom. SVG in real pixels.

const NS = 'http://www.w3.org/2000/svg';
const DASHES = ['', '9 4', '3 3', '12 3 3 3', '6 2 2 2 2 2', '1.5 4', '16 4', '4 8'];
const LEFT = 58;
const RIGHT = 22;
const TOP = 8;
const BOTTOM = 24;

export function svg(name, attributes, ...children) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export function html(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** A short piece of a run's line, with the dot of evaluations. */
export function swatch(look, split) {
  const line = svg('line', {x1: 0, y1: 5, x2: 30, y2: 5, class: `c${look.color} ${split}`, 'stroke-dasharray': DASHES[look.dash]});
  const mark = svg('svg', {class: 'swatch', viewBox: '0 0 30 10', 'aria-hidden': 'true'}, line);
  if (split === 'eval') mark.append(svg('circle', {cx: 15, cy: 5, r: 3.4, class: `f${look.color}`}));
  return mark;
}

/** Round numbers from low to high, about `count` of them. */
export function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(k => k * power).find(k => k >= rough * 0.999) ?? rough;
  const all = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && all.length < 50; k++) all.push(k * step + 0); // + 0 for -0
  return {step, all};
}

/** The index of the value nearest to x in ascending values. */
function nearest(xs, x) {
  let from = 0;
  let to = xs.length - 1;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (xs[middle] < x) from = middle; else to = middle;
  }
  return to >= 0 && Math.abs(xs[to] - x) < Math.abs(xs[from] - x) ? to : Math.max(0, from);
}

/** The index of the point that a cursor at x reads out; -1 where the curve does not reach it. */
function under(xs, x, room) {
  return x < xs[0] - room || x > xs[xs.length - 1] + room ? -1 : nearest(xs, x);
}

/** A moving average whose first values weigh as much as they should. */
function smoothed(values, keep) {
  let sum = 0;
  let weight = 0;
  return values.map(value => {
    sum = keep * sum + value;
    weight = keep * weight + 1;
    return sum / weight;
  });
}

export class Chart {
  /** spec: title, unit, format, tick, base, zero, ideal, isLoss. host: cursor(x), zoom(low, high). */
  constructor(spec, host) {
    this.spec = spec;
    this.host = host;
    this.series = [];
    this.references = [];
    this.at = html('p', {class: 'at'});
    this.legend = html('ul', {class: 'legend'});
    this.plot = html('div', {class: 'plot', tabindex: 0, role: 'group', 'aria-label': `${spec.title}, ${spec.unit}`});
    this.spoken = html('p', {class: 'at', role: 'status', hidden: ''});
    this.root = html('figure', {class: 'chart'},
      html('figcaption', {}, html('h3', {}, spec.title + ' ', html('small', {}, spec.unit)), this.at), this.legend, this.plot, this.spoken);
    this.listen();
    this.width = 0;
    new ResizeObserver(() => {
      if (this.plot.clientWidth !== this.width) this.draw();
    }).observe(this.plot);
  }

  listen() {
    const plot = this.plot;
    const place = event => this.toX(event.clientX - plot.getBoundingClientRect().left);
    plot.addEventListener('pointermove', event => {
      if (this.dragged) this.dragged.to = place(event);
      this.host.cursor(place(event));
    });
    plot.addEventListener('pointerleave', () => {
      if (!this.dragged) this.host.cursor(null);
    });
    plot.addEventListener('pointerdown', event => {
      if (event.button !== 0 || event.pointerType === 'touch') return;
      this.dragged = {from: place(event), to: place(event)};
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener('pointerup', () => {
      const drag = this.dragged;
      this.dragged = null;
      if (!drag || !this.scale) return;
      const low = Math.min(drag.from, drag.to);
      const high = Math.max(drag.from, drag.to);
      if ((high - low) / (this.scale.x1 - this.scale.x0) > 0.01) this.host.zoom(low, high);
      else this.draw();
    });
    plot.addEventListener('dblclick', () => this.host.zoom(null, null));
    plot.addEventListener('keydown', event => this.key(event));
    plot.addEventListener('blur', () => this.host.cursor(null));
  }

  key(event) {
    if (!this.scale) return;
    const {x0, x1} = this.scale;
    const now = this.view.cursor ?? x1;
    const by = event.shiftKey ? 10 : 1;
    if (event.key === 'ArrowLeft') this.host.cursor(this.next(now, -by));
    else if (event.key === 'ArrowRight') this.host.cursor(this.next(now, by));
    else if (event.key === 'Home') this.host.cursor(x0);
    else if (event.key === 'End') this.host.cursor(x1);
    else if (event.key === '+') this.host.zoom(Math.max(x0, now - (x1 - x0) / 4), Math.min(x1, now + (x1 - x0) / 4));
    else if (event.key === '-') this.host.zoom(null, null);
    else if (event.key === 'Escape') this.host.cursor(null);
    else return;
    event.preventDefault();
    this.speak();
  }

  /** The x of a point that is `by` points away, of the curve with the most points. */
  next(x, by) {
    const longest = this.series.reduce((a, b) => (a.x.length >= b.x.length ? a : b));
    const at = nearest(longest.x, x) + by;
    return longest.x[Math.min(longest.x.length - 1, Math.max(0, at))];
  }

  /** Tells a screen reader what the legend reads out. */
  speak() {
    this.spoken.hidden = false;
    this.spoken.className = 'spoken';
    this.spoken.textContent = this.at.textContent + ': '
      + [...this.legend.children].map(item => item.textContent).join(', ');
  }

  /** series: name, letter, look, split, x, y, lo, hi. references: name, value, look. */
  update(series, references, view) {
    this.series = series.filter(own => own.x.length > 0);
    this.references = references;
    this.view = view;
    this.root.hidden = this.series.length === 0;
    this.draw();
  }

  toX(pixel) {
    if (!this.scale) return null;
    const {x0, x1, width} = this.scale;
    return x0 + Math.min(1, Math.max(0, (pixel - LEFT) / (width - LEFT - RIGHT))) * (x1 - x0);
  }

  /** The range of y: of what is seen, without the steep first part of long curves of loss. */
  range(x0, x1) {
    let low = Infinity;
    let high = -Infinity;
    const take = value => {
      if (this.isLog() && value <= 0) return;
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const own of this.series) {
      const skipped = this.spec.isLoss && own.x.length >= 30 && !this.view.zoom ? Math.floor(own.x.length / 20) : 0;
      own.x.forEach((x, i) => {
        if (i < skipped || x < x0 || x > x1) return;
        take(own.shown[i]);
      });
    }
    for (const reference of this.references) take(reference.value);
    if (this.spec.ideal !== undefined) take(this.spec.ideal);
    if (this.spec.zero) low = Math.min(0, low);
    if (!(low <= high)) return this.isLog() ? [0.1, 1] : [0, 1];
    if (low === high) return this.isLog() ? [low / 1.1, high * 1.1] : [low - Math.abs(low) * 0.01 - 1e-6, high + Math.abs(high) * 0.01 + 1e-6];
    const least = this.isLog() ? 0 : Math.abs(high) * 5e-4; // Below that the digits of floats would show.
    if (high - low < least) {
      const middle = (low + high) / 2;
      low = middle - least / 2;
      high = middle + least / 2;
    }
    const room = (high - low) * 0.06;
    if (this.isLog()) return [low / 1.03, high * 1.03];
    return [this.spec.zero && low >= 0 ? 0 : low - room, high + room];
  }

  isLog() {
    return this.spec.isLoss && this.view.log;
  }

  draw() {
    if (!this.view || this.root.hidden) return;
    const width = this.plot.clientWidth;
    const height = this.plot.clientHeight;
    this.width = width;
    if (width < 100) return;
    for (const own of this.series) {
      own.shown = own.split === 'train' && this.view.smooth > 0 ? smoothed(own.y, this.view.smooth) : own.y;
    }
    const [x0, x1] = this.view.range;
    const [low, high] = this.range(x0, x1);
    const bend = this.isLog() ? Math.log10 : value => value;
    const y0 = bend(low);
    const y1 = bend(high);
    this.scale = {x0, x1, width};
    const px = x => LEFT + (x - x0) / (x1 - x0) * (width - LEFT - RIGHT);
    const py = y => {
      const bent = this.isLog() && y <= 0 ? y0 - 1 : bend(y);
      return TOP + (1 - Math.min(3, Math.max(-3, (bent - y0) / (y1 - y0)))) * (height - TOP - BOTTOM);
    };
    const node = svg('svg', {'aria-hidden': 'true'});
    const id = 'clip' + this.spec.id;
    node.append(svg('clipPath', {id}, svg('rect', {x: LEFT - 4, y: TOP - 4, width: width - LEFT - RIGHT + 8, height: height - TOP - BOTTOM + 5})));
    this.axes(node, {x0, x1, low, high, px, py, width, height});
    const curves = svg('g', {'clip-path': `url(#${id})`});
    const across = value => ({x1: LEFT, x2: width - RIGHT, y1: py(value), y2: py(value)});
    if (this.spec.ideal !== undefined) curves.append(svg('line', {...across(this.spec.ideal), class: 'ideal'}));
    for (const reference of this.references) curves.append(svg('line', {...across(reference.value), class: `budget c${reference.look.color}`}));
    const ends = [];
    for (const own of this.series) this.curve(curves, own, px, py, ends);
    if (this.dragged) {
      const a = px(Math.min(this.dragged.from, this.dragged.to));
      const b = px(Math.max(this.dragged.from, this.dragged.to));
      curves.append(svg('rect', {x: a, width: b - a, y: TOP, height: height - TOP - BOTTOM, class: 'drag'}));
    }
    node.append(curves);
    this.letters(node, ends, width, height);
    this.cursor(node, px, py, height);
    this.plot.replaceChildren(node);
    this.readOut();
  }

  axes(node, {x0, x1, low, high, px, py, width, height}) {
    const bottom = height - BOTTOM;
    const base = this.spec.base ? this.spec.base(high) : 1;
    let rows = ticks(low / base, high / base, 4);
    rows = {step: rows.step * base, all: rows.all.map(y => y * base)};
    if (this.isLog() && high / low > 8) {
      rows = {step: 0, all: []};
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        for (const k of [1, 2, 5]) if (k * 10 ** power >= low && k * 10 ** power <= high) rows.all.push(k * 10 ** power);
      }
    }
    for (const y of rows.all) {
      node.append(svg('line', {x1: LEFT, x2: width - RIGHT, y1: py(y), y2: py(y), class: 'grid'}));
      node.append(svg('text', {x: LEFT - 7, y: py(y) + 4, 'text-anchor': 'end'}, this.spec.tick(y, rows.step)));
    }
    node.append(svg('line', {x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom, class: 'axis'}));
    const columns = this.view.columns(x0, x1, Math.max(2, Math.floor(width / 110)));
    columns.all.forEach((x, i) => {
      node.append(svg('line', {x1: px(x), x2: px(x), y1: bottom, y2: bottom + 4, class: 'axis'}));
      const last = i === columns.all.length - 1;
      const near = px(x) > width - 34;
      node.append(svg('text', {x: near ? width : px(x), y: bottom + 17, 'text-anchor': near ? 'end' : 'middle'},
        columns.label(x) + (last ? columns.unit : '')));
    });
  }

  curve(node, own, px, py, ends) {
    const look = `c${own.look.color}`;
    const path = values => values.map((y, i) => `${i ? 'L' : 'M'}${px(own.x[i]).toFixed(1)} ${py(y).toFixed(1)}`).join('');
    if (own.lo && own.shown === own.y) {
      const back = own.lo.map((_, i) => own.lo.length - 1 - i);
      node.append(svg('path', {class: `band f${own.look.color}`, d: path(own.hi) + back.map(i => `L${px(own.x[i]).toFixed(1)} ${py(own.lo[i]).toFixed(1)}`).join('') + 'Z'}));
    }
    if (own.shown !== own.y) node.append(svg('path', {class: `raw ${look}`, d: path(own.y)}));
    node.append(svg('path', {class: `${own.split} ${look}`, 'stroke-dasharray': DASHES[own.look.dash], d: path(own.shown)}));
    if (own.x.length === 1 || (own.split === 'eval' && own.x.length <= 80)) {
      own.x.forEach((x, i) => node.append(svg('circle', {cx: px(x), cy: py(own.shown[i]), r: 3, class: `f${own.look.color}`})));
    }
    let last = own.x.length - 1;
    while (last > 0 && own.x[last] > this.view.range[1]) last--;
    if (own.x[last] >= this.view.range[0]) ends.push({letter: own.letter, x: px(own.x[last]), y: py(own.shown[last])});
  }

  /** Letters of runs at the ends of their curves, moved apart where they would overlap. */
  letters(node, ends, width, height) {
    if (new Set(ends.map(end => end.letter)).size < 2) return;
    const placed = [];
    ends.sort((a, b) => a.y - b.y);
    for (const end of ends) {
      let y = Math.min(height - BOTTOM, Math.max(TOP, end.y));
      const beside = placed.filter(other => Math.abs(other.x - end.x) < 14);
      if (beside.some(other => other.letter === end.letter && Math.abs(other.y - y) < 13)) continue;
      for (const other of beside) if (y - other.y < 13) y = other.y + 13;
      if (y > height - BOTTOM + 6) continue;
      placed.push({...end, y});
      node.append(svg('text', {class: 'end', x: Math.min(end.x + 5, width - 12), y: y + 4}, end.letter));
    }
  }

  cursor(node, px, py, height) {
    const x = this.view.cursor;
    if (x === null || x < this.view.range[0] || x > this.view.range[1]) return;
    node.append(svg('line', {x1: px(x), x2: px(x), y1: TOP, y2: height - BOTTOM, class: 'cursor'}));
    for (const own of this.series) {
      const i = under(own.x, x, this.room());
      if (i >= 0 && own.x[i] >= this.view.range[0] && own.x[i] <= this.view.range[1]) {
        node.append(svg('circle', {cx: px(own.x[i]), cy: Math.max(TOP, py(own.shown[i])), r: 4, class: `f${own.look.color}`}));
      }
    }
  }

  /** How far beside a point the cursor still reads it. */
  room() {
    return (this.view.range[1] - this.view.range[0]) / 100;
  }

  readOut() {
    const x = this.view.cursor;
    this.at.textContent = x === null ? 'latest' : 'at ' + this.view.name(x);
    const items = this.series.map(own => {
      const i = x === null ? own.x.length - 1 : under(own.x, x, this.room());
      if (i < 0) return html('li', {}, swatch(own.look, own.split), html('span', {class: 'what'}, own.name), html('span', {class: 'value'}, '–'));
      const extremes = own.lo && own.lo[i] < own.hi[i] && x !== null
        ? `, ${this.spec.format(own.lo[i])} to ${this.spec.format(own.hi[i])} since the point before` : '';
      return html('li', {title: `${own.name}: ${this.spec.format(own.y[i])} at ${this.view.name(own.x[i])}${extremes}`},
        swatch(own.look, own.split), html('span', {class: 'what'}, own.name), html('span', {class: 'value'}, this.spec.format(own.shown[i])));
    });
    for (const reference of this.references) {
      items.push(html('li', {}, svg('svg', {class: 'swatch', viewBox: '0 0 30 10', 'aria-hidden': 'true'},
        svg('line', {x1: 0, x2: 30, y1: 5, y2: 5, class: `budget c${reference.look.color}`})),
      html('span', {class: 'what'}, reference.name), html('span', {class: 'value'}, this.spec.format(reference.value))));
    }
    this.legend.replaceChildren(...items);
    // One that scrolls must be reached by the keyboard.
    if (this.legend.scrollHeight > this.legend.clientHeight + 1) this.legend.tabIndex = 0;
    else this.legend.removeAttribute('tabindex');
  }
}
