import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { knownMetrics, PROCESS_METRICS } from './known-metrics.ts';
import { metricsOf } from './promql.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const FOLDER = join(DEPLOY, 'grafana');
const RULES = readFileSync(join(DEPLOY, 'prometheus/lapel.rules.yml'), 'utf8');

interface Source {
  datasource: { type: string; uid: string };
}
interface Panel extends Source {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: (Source & { refId: string; expr: string })[];
}
interface Dashboard {
  uid: string;
  schemaVersion: number;
  annotations: { list: (Source & { expr: string })[] };
  templating: { list: (Partial<Source> & { name: string; type: string; query: unknown })[] };
  panels: Panel[];
}
const dashboards = readdirSync(FOLDER).map((file) => ({
  file,
  dashboard: JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Dashboard,
}));
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
const SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The squares of the grid that a panel covers. */
const squaresOf = ({ gridPos: { x, y, w, h } }: Panel): string[] =>
  Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);

t.test('every dashboard works with every data source, and its panels do not overlap', async (t) => {
  t.same(
    dashboards.map(({ dashboard: { uid } }) => uid).sort(),
    ['fleet', 'nodes', 'service', 'webhooks'].map((name) => `lapel-${name}`),
  );
  for (const { file, dashboard } of dashboards) {
    const { schemaVersion, annotations, templating, panels } = dashboard;
    t.ok(schemaVersion >= 36, `${file}: for Grafana 10`);
    const [source, ...variables] = templating.list;
    t.match(source, { name: 'datasource', type: 'datasource', query: 'prometheus' }, file);
    t.same(
      variables.map(({ name }) => name),
      ['job', 'instance'],
      file,
    );
    for (const { datasource } of [
      ...variables,
      ...annotations.list,
      ...panels,
      ...panels.flatMap((one) => one.targets),
    ])
      t.same(datasource, SOURCE, file);
    t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, `${file}: each id once`);
    const squares = panels.flatMap(squaresOf);
    t.equal(new Set(squares).size, squares.length, `${file}: no panel covers another`);
    for (const { title, gridPos } of panels) t.ok(gridPos.x + gridPos.w <= 24, `${file}: ${title}`);
  }
});

t.test('every metric and label in the dashboards exists, and only one service is shown', async (t) => {
  const known = knownMetrics();
  const recorded = new Set([...RULES.matchAll(/^ +- record: (\S+)$/gm)].map(([, name]) => name));
  for (const { file, dashboard } of dashboards) {
    const expressions = [...dashboard.panels.flatMap(({ targets }) => targets), ...dashboard.annotations.list];
    for (const { expr } of expressions) {
      t.match(expr, 'job="$job"', `${file}: ${expr}`);
      for (const { name, labels } of metricsOf(expr)) {
        const own = known.get(name);
        t.ok(own ?? (recorded.has(name) || PROCESS_METRICS.has(name)), `${file}: ${name}`);
        for (const label of own ? labels : []) t.ok(own?.has(label), `${file}: ${name}{${label}}`);
      }
    }
  }
});
