// The board: takes events, keeps the curves of all runs, draws charts and tables.
import {Chart, html, swatch, ticks} from './chart.js';

const runs = new Map();
const charts = new Map();
const view = {across: 's', smooth: 0, log: false, cursor: null, zoom: null};
let clock = 0; // the server's time less this machine's, in ms
let isDirty = false;
const byId = id => document.getElementById(id);

// Numbers

const fixed = digits => value => value.toFixed(digits);
const whole = value => Math.round(value).toLocaleString('en-US');
function rate(value) {
  const size = Math.abs(value);
  const [unit, by] = size < 999.5 ? ['', 1] : size < 999500 ? ['k', 1e3] : size < 999.5e6 ? ['M', 1e6] : ['G', 1e9];
  const scaled = value / by;
  const digits = unit === '' && Number.isInteger(value) ? 0 : Math.abs(scaled) < 9.995 ? 2 : Math.abs(scaled) < 99.95 ? 1 : 0;
  return scaled.toFixed(digits) + unit;
}
function bytes(value) {
  const [unit, by] = value >= 2 ** 30 ? ['GiB', 2 ** 30] : value >= 2 ** 20 ? ['MiB', 2 ** 20] : ['KiB', 2 ** 10];
  const scaled = value / by;
  return scaled.toFixed(scaled < 9.95 ? 2 : scaled < 99.5 ? 1 : 0) + ' ' + unit;
}
const unitOf = value => (value >= 2 ** 30 ? 2 ** 30 : value >= 2 ** 20 ? 2 ** 20 : 2 ** 10);
const BYTES = {format: bytes, base: unitOf, tick: (value, step) => (value === 0 ? '0' : plain(value / unitOf(value), step / unitOf(value)) + bytes(value).slice(-4)), zero: true};
const percent = value => (100 * value).toFixed(value < 0.0995 ? 1 : 0) + '%';
function time(seconds) {
  if (seconds < 59.95) return seconds.toFixed(seconds < 9.95 ? 1 : 0) + ' s';
  const all = Math.round(seconds);
  if (all < 3600) return `${Math.floor(all / 60)} min ${all % 60} s`;
  return all < 86400 * 2 ? `${Math.floor(all / 3600)} h ${Math.floor(all % 3600 / 60)} min` : `${Math.floor(all / 86400)} d ${Math.floor(all % 86400 / 3600)} h`;
}
const age = millis => {
  const seconds = Math.max(0, (Date.now() + clock - millis) / 1000);
  return (seconds < 60 ? Math.floor(seconds) + ' s' : seconds < 3600 ? Math.floor(seconds / 60) + ' min' : seconds < 172800 ? Math.floor(seconds / 3600) + ' h' : Math.floor(seconds / 86400) + ' d') + ' ago';
};
/** A label of an axis with as many digits as its steps need. */
const plain = (value, step) => {
  const digits = step > 0 ? Math.max(0, -Math.floor(Math.log10(step) + 1e-9) + (/^(2|5)?5/.test(String(step / 10 ** Math.floor(Math.log10(step)) * 10)) ? 1 : 0)) : 0;
  return step > 0 ? value.toFixed(Math.min(8, digits)).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : String(+value.toPrecision(2));
};

const FIGURES = {
  loss: {title: 'Loss', unit: 'mean per row', format: fixed(4), tick: plain, isLoss: true},
  auc: {title: 'AUC', unit: 'area under the ROC curve, 0 to 1', format: fixed(4), tick: plain},
  r2: {title: 'R2', unit: '1 is right, 0 the mean label', format: fixed(4), tick: plain},
  calibration: {title: 'Calibration', unit: 'mean prediction over mean label, 1 is ideal', format: fixed(3), tick: plain, ideal: 1},
  ece: {title: 'Calibration error', unit: 'ECE, in evaluation', format: fixed(4), tick: plain, zero: true},
  gauc: {title: 'GAUC', unit: 'AUC within groups, 0 to 1', format: fixed(4), tick: plain},
  recall: {title: 'Recall', unit: 'share of rows whose own item is found', format: fixed(4), tick: plain, zero: true},
  speed: {title: 'Throughput', unit: 'samples per second', format: rate, tick: rate, zero: true},
  waiting: {title: 'Waiting for data', unit: 'share of training time', format: percent, tick: (v, step) => plain(100 * v, 100 * step) + '%', zero: true},
  memory: {title: 'Memory in use', unit: 'bytes', ...BYTES},
  rows: {title: 'Rows of tables', unit: 'rows, all tables', format: rate, tick: rate, zero: true},
  table_bytes: {title: 'Memory of tables', unit: 'bytes, all tables', ...BYTES},
  hit_rate: {title: 'Ids found', unit: 'share of ids that had a row', format: percent, tick: (v, step) => plain(100 * v, 100 * step) + '%'},
};
const OF_TASK = ['loss', 'auc', 'r2', 'calibration', 'ece', 'gauc', 'recall'];

// Events

function connect() {
  const events = new EventSource('events');
  events.onopen = () => { byId('link').textContent = 'live'; };
  events.onerror = () => {
    byId('link').textContent = 'not connected, trying again: is tern board still running?';
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
  };
  const on = (name, act) => events.addEventListener(name, event => {
    const message = JSON.parse(event.data);
    if (message.now) clock = message.now - Date.now();
    act(message);
    dirty();
  });
  on('beat', () => {});
  on('left_out', message => {
    byId('notice').hidden = message.runs === 0;
    byId('notice').textContent = `${message.runs} more runs match and are not shown: the board has room for 64`;
  });
  on('run', message => {
    const run = runs.get(message.id) ?? {id: message.id, shown: true, facts: {}};
    run.curves = new Map(Object.entries(message.curves));
    if (message.facts) run.facts = message.facts;
    runs.set(run.id, run);
  });
  on('more', message => {
    const run = runs.get(message.id);
    if (message.facts) run.facts = message.facts;
    let longest = 0;
    for (const [key, step, seconds, value] of message.points) {
      let curve = run.curves.get(key);
      if (!curve) run.curves.set(key, curve = {s: [], t: [], y: []});
      curve.s.push(step);
      curve.t.push(seconds);
      curve.y.push(value);
      if (curve.lo) {
        curve.lo.push(value);
        curve.hi.push(value);
      }
      longest = Math.max(longest, curve.s.length);
    }
    if (longest > 4000) { // The server has thinned them.
      events.close();
      connect();
    }
  });
}

function dirty() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => {
    isDirty = false;
    drawRuns();
    drawCharts();
    drawTables();
  });
}

// Runs

const letter = id => (id < 26 ? '' : String.fromCharCode(64 + Math.floor(id / 26))) + String.fromCharCode(65 + id % 26);
const look = id => ({color: id % 8, dash: (id + Math.floor(id / 8)) % 8});

/** The curves of a figure: their tasks in order. */
const tasksOf = (run, split, figure) => [...run.curves.keys()].filter(key => key.startsWith(`${split}/${figure}/`));
const firstOf = (run, split, figure) => run.curves.get(tasksOf(run, split, figure)[0]);
const lastOf = (run, split, figure) => {
  const curve = firstOf(run, split, figure);
  return curve ? curve.y[curve.y.length - 1] : undefined;
};

const STATES = {
  running: '● running', finished: '✓ finished', interrupted: '■ interrupted', ended: '✓ ended',
  waiting: '… waits for its first line', gone: '✕ the folder is gone',
};

function state(run) {
  const facts = run.facts;
  const out = [STATES[facts.state] ?? facts.state];
  if (facts.lines > 0) {
    const silent = facts.state === 'running' && Date.now() + clock - facts.written > 120000;
    out.push(html('small', {}, `${time(facts.seconds)} trained, ${silent ? 'silent: last line' : 'last line'} ${age(facts.written)}`));
  }
  const alarm = text => out.push(html('small', {class: 'alarm'}, '⚠ ' + text));
  if (facts.loss_unknown_at !== undefined) alarm(`the loss was no number at step ${whole(facts.loss_unknown_at)}`);
  if (facts.broken) alarm(`${whole(facts.broken)} of ${whole(facts.lines)} lines cannot be read, the first is line ${whole(facts.first_broken)}`);
  if (facts.tasks_left_out) alarm('it has more than 64 tasks, the others are not shown');
  if (facts.tables_left_out) alarm(`${whole(facts.tables_left_out)} more tables are not listed`);
  if (facts.error) alarm(`metrics.jsonl cannot be read: ${facts.error}`);
  if (facts.config_error) alarm(`config.yaml: ${facts.config_error}`);
  return out;
}

function best(run) {
  const figure = firstOf(run, 'eval', 'auc') ? 'auc' : 'r2';
  const curve = firstOf(run, 'eval', figure);
  if (!curve) return ['–'];
  const tops = curve.hi ?? curve.y;
  const at = tops.reduce((top, value, i) => (value > tops[top] ? i : top), 0);
  return [tops[at].toFixed(4) + (figure === 'r2' ? ' (R2)' : ''), html('small', {}, `step ${whole(curve.s[at])}`)];
}

const shown = (value, format) => [value === undefined ? '–' : format(value)];

function memory(run) {
  const used = lastOf(run, 'train', 'memory') ?? lastOf(run, 'eval', 'memory');
  if (used === undefined) return ['–'];
  return run.facts.budget ? [percent(used / run.facts.budget), html('small', {}, `${bytes(used)} of ${bytes(run.facts.budget)}`)] : [bytes(used)];
}

function checkpoint(run) {
  const last = run.facts.checkpoint;
  return last ? [`step ${whole(last.step)}`, html('small', {}, `${last.delta ? 'delta' : 'full'}, ${age(last.time)}`)] : ['–'];
}

function nameCell(run) {
  const box = html('input', {type: 'checkbox', 'aria-label': `show run ${letter(run.id)}, ${run.facts.name}`});
  box.checked = run.shown;
  box.addEventListener('change', () => {
    run.shown = box.checked;
    dirty();
  });
  const label = html('label', {}, box, html('span', {class: 'letter'}, letter(run.id)), swatch(look(run.id), 'train'), html('span', {}));
  const links = ['report', 'config'].map(kind => html('a', {href: `${kind}?run=${run.id}`, target: '_blank', rel: 'noopener'}, kind === 'config' ? 'configuration' : kind));
  run.nameNodes = {text: label.lastChild, model: html('span', {}), links};
  return [label, html('small', {}, run.nameNodes.model, ' ', links[0], ' ', links[1])];
}

const COLUMNS = [
  ['state', state], ['step', run => [whole(run.facts.step), html('small', {}, `epoch ${whole(run.facts.epoch + 1)}`)]],
  ['best eval AUC', best], ['eval loss', run => shown(lastOf(run, 'eval', 'loss'), fixed(4))],
  ['calibration', run => shown(lastOf(run, 'eval', 'calibration') ?? lastOf(run, 'train', 'calibration'), fixed(3))],
  ['samples/s', run => shown(lastOf(run, 'train', 'speed'), rate)],
  ['waiting for data', run => shown(lastOf(run, 'train', 'waiting'), percent)],
  ['memory of budget', memory], ['last checkpoint', checkpoint],
];

/** Rows stay, so that the focus stays on a box; the other cells are made anew. */
function drawRuns() {
  for (const run of runs.values()) {
    if (!run.row) {
      run.row = html('tr', {}, html('td', {class: 'name'}, ...nameCell(run)),
        ...COLUMNS.map(([name], i) => html('td', {'data-label': name, class: i === 0 || i === COLUMNS.length - 1 ? '' : 'n'}, html('div', {}))));
      byId('runs').append(run.row);
    }
    run.nameNodes.text.textContent = run.facts.name;
    run.nameNodes.model.textContent = run.facts.model ?? '';
    run.nameNodes.model.title = [run.facts.model_summary, run.facts.data, run.facts.training].filter(Boolean).join('\n');
    run.nameNodes.links[0].hidden = !run.facts.report;
    run.nameNodes.links[1].hidden = !run.facts.config;
    COLUMNS.forEach(([, cell], i) => run.row.children[i + 1].firstChild.replaceChildren(...cell(run)));
  }
}

// Charts

/** Labels of the x axis. */
function columns(low, high, count) {
  if (view.across === 's') {
    const all = ticks(low, high, count).all.filter(Number.isInteger);
    return {all, label: rateStep(high), unit: ' steps'};
  }
  const [by, unit] = high < 180 ? [1, ' s'] : high < 10800 ? [60, ' min'] : [3600, ' h'];
  const own = ticks(low / by, high / by, count);
  return {all: own.all.map(x => x * by), label: x => plain(x / by, own.step), unit};
}
const rateStep = high => x => (x === 0 || high < 1e5 ? whole(x) : high < 1e8 ? plain(x / 1e3, 1) + 'k' : plain(x / 1e6, 1) + 'M');
const xName = x => (view.across === 's' ? 'step ' + whole(x) : time(x));

function wanted() {
  const keys = new Map();
  const several = new Set();
  for (const run of runs.values()) {
    for (const key of run.curves.keys()) {
      const [, figure] = key.split('/', 2);
      const task = key.slice(key.indexOf('/', key.indexOf('/') + 1) + 1);
      if (!keys.has(`${figure}/${task}`)) keys.set(`${figure}/${task}`, {figure, task});
      if (task) several.add(task);
    }
  }
  const order = Object.keys(FIGURES);
  const tasks = [...several];
  const rank = own => (OF_TASK.includes(own.figure) ? tasks.indexOf(own.task) * 10 : 1000) + order.indexOf(own.figure);
  return [...keys.entries()].filter(([, own]) => FIGURES[own.figure]).sort(([, a], [, b]) => rank(a) - rank(b));
}

/** What a chart shows from left to right. */
function range(series) {
  if (view.zoom) return view.zoom;
  let low = Infinity;
  let high = -Infinity;
  for (const {x} of series) {
    low = Math.min(low, x[0]);
    high = Math.max(high, x[x.length - 1]);
  }
  if (!(low <= high)) return [0, 1];
  if (low <= high / 10) low = 0;
  return low === high ? [low - 1, high + 1] : [low, high];
}

function drawCharts() {
  const all = wanted();
  const single = runs.size === 1;
  all.forEach(([key, {figure, task}], place) => {
    let chart = charts.get(key);
    if (!chart) {
      const spec = {...FIGURES[figure], id: charts.size};
      if (task) spec.title += ' of ' + task;
      chart = new Chart(spec, {
        cursor: x => { view.cursor = x; cursorMoved(); },
        zoom: (low, high) => { view.zoom = low === null ? null : [low, high]; byId('zoom-out').disabled = low === null; dirty(); },
      });
      charts.set(key, chart);
    }
    const at = byId('charts').children[place];
    if (at !== chart.root) byId('charts').insertBefore(chart.root, at ?? null);
    const series = [];
    const references = [];
    for (const run of runs.values()) {
      if (!run.shown) continue;
      for (const split of ['train', 'eval']) {
        const curve = run.curves.get(`${split}/${figure}/${task}`);
        if (!curve) continue;
        const own = single ? {color: split === 'eval' ? 1 : 0, dash: 0} : look(run.id);
        const of = split === 'train' ? 'training' : 'evaluation';
        series.push({name: single ? of : `${letter(run.id)} ${of}`, letter: letter(run.id), look: own, split, x: curve[view.across], y: curve.y, lo: curve.lo, hi: curve.hi});
      }
      if (figure === 'memory' && run.facts.budget && lastOf(run, 'train', 'memory') > run.facts.budget / 10) {
        references.push({name: single ? 'budget' : `${letter(run.id)} budget`, value: run.facts.budget, look: single ? {color: 2, dash: 0} : look(run.id)});
      }
    }
    chart.update(series, references, {...view, range: range(series), columns, name: xName});
  });
}

let cursorWaits = false;
/** Moves the cursor of all charts at the next frame. */
function cursorMoved() {
  if (cursorWaits) return;
  cursorWaits = true;
  requestAnimationFrame(() => {
    cursorWaits = false;
    for (const chart of charts.values()) {
      if (chart.view) {
        chart.view.cursor = view.cursor;
        chart.draw();
      }
    }
  });
}

// Servers

const SERVERS_EVERY = 5000;
const drift = psi => (psi < 0.1 ? 'usual' : psi < 0.25 ? 'moved' : 'far from the first');
const least = seconds => (seconds === undefined ? '–' : seconds < 0.001 ? `≤ ${plain(seconds * 1e6, 1)} µs` : seconds < 1 ? `≤ ${plain(seconds * 1e3, 0.1)} ms` : `≤ ${plain(seconds, 0.1)} s`);

const SERVER_COLUMNS = [
  ['serves', model => model.labels.map(own => html('small', {class: own.loaded ? '' : 'alarm'}, `${own.label}: ${own.loaded ? 'step ' + whole(own.step) : 'unloaded'}`))],
  ['requests/s', model => shown(model.requests_per_second, rate)],
  ['time, 50% and 99%', model => [least(model.p50), html('small', {}, least(model.p99))]],
  ['rows', model => shown(model.rows, rate)],
  ['errors', model => [model.errors > 0 ? html('span', {class: 'alarm'}, '⚠ ' + whole(model.errors)) : whole(model.errors ?? 0)]],
  ['mean prediction', model => [model.mean_last === undefined ? '–' : model.mean_last.toPrecision(3), ...(model.mean_first === undefined ? [] : [html('small', {}, `at first ${model.mean_first.toPrecision(3)}`)])]],
  ['drift (PSI)', model => (model.psi === undefined ? ['–'] : [model.psi.toFixed(3), html('small', {class: model.psi < 0.25 ? '' : 'alarm'}, (model.psi < 0.25 ? '' : '⚠ ') + drift(model.psi))])],
  ['unknown ids', model => (model.unknown.length ? model.unknown.slice(0, 3).map(own => html('small', {}, `${own.column} ${percent(own.share)}`)) : ['–'])],
  ['checkpoint', model => model.labels.filter(own => own.checkpoint_age !== undefined).map(own => html('small', {}, `${model.labels.length > 1 ? own.label + ': ' : ''}${time(own.checkpoint_age)} old${own.deltas ? `, ${whole(own.deltas)} updates of ${rate(own.delta_rows)} ids` : ''}`))],
];

function serverRow(server, model) {
  const row = html('tr', {}, html('td', {class: 'name'}, html('strong', {}, model.name), html('small', {}, server.address)));
  SERVER_COLUMNS.forEach(([name, cell], i) => {
    const texts = i === 0 || i >= SERVER_COLUMNS.length - 2;
    row.append(html('td', {'data-label': name, class: texts ? 'texts' : 'n'}, html('div', {}, ...cell(model))));
  });
  return row;
}

async function askServers() {
  let all;
  try {
    all = await (await fetch('servers')).json();
  } catch {
    return; // The notice of the events says that the board is gone.
  }
  if (all.length === 0) return;
  byId('servers-section').hidden = false;
  for (const id of ['runs-section', 'charts-section']) byId(id).hidden = runs.size === 0;
  byId('servers').replaceChildren(...all.flatMap(server => {
    if (server.error) {
      return [html('tr', {}, html('td', {class: 'name'}, html('strong', {}, server.address)), html('td', {colspan: '9'}, html('div', {class: 'alarm'}, '⚠ ' + server.error)))];
    }
    return server.models.map(model => serverRow(server, model));
  }));
}

async function watchServers() {
  await askServers();
  if (!byId('servers-section').hidden) setTimeout(watchServers, SERVERS_EVERY);
}

// Tables

const TABLE_COLUMNS = [
  ['table', table => table.table], ['rows', table => whole(table.rows)], ['bytes', table => bytes(table.bytes)],
  ['ids found', table => (table.hits + table.misses > 0 ? percent(table.hits / (table.hits + table.misses)) : '–')],
  ['admitted', table => whole(table.admitted)], ['rejected', table => whole(table.rejected)], ['evicted', table => whole(table.evicted)],
  ['rows in file', table => (table.file_rows === undefined ? '–' : whole(table.file_rows))],
  ['bytes in file', table => (table.file_bytes === undefined ? '–' : bytes(table.file_bytes))],
];

function drawTables() {
  byId('tables-section').hidden = ![...runs.values()].some(run => run.facts.tables?.length);
  for (const run of runs.values()) {
    const all = run.facts.tables ?? [];
    if (!run.tables) {
      run.tables = html('details', {}, html('summary', {}), html('div', {class: 'scroll', tabindex: 0}));
      if (runs.size === 1) run.tables.open = true;
      byId('tables').append(run.tables);
    }
    run.tables.hidden = !run.shown || all.length === 0;
    if (run.drawnTables === run.facts.tables) continue;
    run.drawnTables = run.facts.tables;
    const sum = name => all.reduce((total, table) => total + (table[name] ?? 0), 0);
    run.tables.firstChild.textContent = `${letter(run.id)} ${run.facts.name}: ${all.length} ${all.length === 1 ? 'table' : 'tables'}, ${whole(sum('rows'))} rows in ${bytes(sum('bytes'))}`;
    const columns = TABLE_COLUMNS.filter(([name]) => !name.endsWith('in file') || sum('file_bytes') > 0);
    run.tables.lastChild.replaceChildren(html('table', {},
      html('thead', {}, html('tr', {}, ...columns.map(([name], i) => html('th', {scope: 'col', class: i ? 'n' : ''}, name)))),
      html('tbody', {}, ...all.map(table => html('tr', {}, ...columns.map(([, cell], i) => html('td', {class: i ? 'n' : 'wide'}, cell(table))))))));
  }
}

// Controls

byId('controls').addEventListener('submit', event => event.preventDefault());
byId('across').addEventListener('change', event => {
  view.across = event.target.value;
  view.zoom = null;
  view.cursor = null;
  byId('zoom-out').disabled = true;
  dirty();
});
byId('smooth').addEventListener('input', event => {
  view.smooth = Number(event.target.value);
  byId('smooth-value').textContent = event.target.value;
  dirty();
});
byId('log').addEventListener('change', event => {
  view.log = event.target.checked;
  dirty();
});
byId('zoom-out').addEventListener('click', () => {
  view.zoom = null;
  byId('zoom-out').disabled = true;
  dirty();
});
setInterval(() => drawRuns(), 1000);
connect();
watchServers();
