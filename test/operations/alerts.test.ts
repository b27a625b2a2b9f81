import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { parse } from 'yaml';
import { missing } from '../installed.ts';
import { knownMetrics, PROCESS_METRICS } from './known-metrics.ts';
import { metricsOf } from './promql.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/prometheus');
const RUNBOOK = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
const RULES = readFileSync(join(FOLDER, 'lapel.rules.yml'), 'utf8');
const TESTS = readFileSync(join(FOLDER, 'lapel.rules.test.yml'), 'utf8');

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: Record<string, string>;
}
interface Case {
  name: string;
  promql_expr_test: { exp_samples?: { labels: string }[] }[];
}
const rules = (parse(RULES) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert, ...rest }) => (alert === undefined ? [] : [{ alert, ...rest }]));

/** Runs promtool on one processor and with little collection of garbage, which takes a third less processor time. */
async function promtool(...args: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, GOMAXPROCS: '1', GOGC: '400' };
  const child = spawn('promtool', args, { cwd: FOLDER, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, output: stdout + stderr };
}

t.test('the names of metrics in an expression are found, and nothing else', async (t) => {
  const names = (expression: string): string[] => metricsOf(expression).map(({ name }) => name);
  t.same(names('sum by (job, le) (rate(a_total{x="b_total",y=~"[}]\\"c"}[5m] offset 1h)) > 10e9 or on (job) b:c'), [
    'a_total',
    'b:c',
  ]);
  t.same(names('histogram_quantile(0.99, sum(rate(d_bucket[$__rate_interval])) by (le))'), ['d_bucket']);
  t.same(metricsOf('e{f="1", g!~"2"} unless e'), [
    { name: 'e', labels: ['f', 'g'] },
    { name: 'e', labels: [] },
  ]);
  t.throws(() => metricsOf('a ; b'), { message: /unexpected ;/ });
});

t.test('every metric and label in the rules exists', async (t) => {
  const known = knownMetrics();
  const recorded = new Set(rules.map(({ record }) => record));
  for (const { expr, alert, record } of rules)
    for (const { name, labels } of metricsOf(expr)) {
      const own = known.get(name);
      t.ok(own ?? (recorded.has(name) || PROCESS_METRICS.has(name)), `${alert ?? record}: ${name}`);
      for (const label of own ? labels : []) t.ok(own?.has(label), `${alert ?? record}: ${name}{${label}}`);
    }
});

t.test('every alert says how urgent it is, what happens, and where to read on', async (t) => {
  t.ok(alerts.length >= 40);
  t.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length, 'each name once');
  for (const { alert, labels, annotations = {} } of alerts) {
    t.match(alert, /^Lapel[A-Z][A-Za-z]+$/);
    t.match(labels, { severity: /^(critical|warning|info)$/ }, alert);
    t.same(Object.keys(annotations), ['summary', 'description', 'runbook'], alert);
    t.match(annotations['summary'], /^.{10,120}$/, alert);
    t.match(annotations['description'], /^[\s\S]{30,250}\.$/, alert);
    t.equal(annotations['runbook'], `docs/runbook.md#${alert.toLowerCase()}`);
  }
});

t.test('the runbook has a paragraph for every alert, and for nothing else', async (t) => {
  const [, ...paragraphs] = RUNBOOK.split(/^### /m);
  const about = new Map(paragraphs.map((text): [string, string] => [text.split('\n', 1)[0] ?? '', text]));
  t.same(
    [...about.keys()],
    alerts.map(({ alert }) => alert),
    'in the order of the rules',
  );
  for (const [alert, text] of about) {
    for (const part of ['**Users', '```sh\n', '**Do:**', '**Escalate**'])
      t.ok(text.includes(part), `${alert}: ${part}`);
    t.notMatch(text, /\[\w+\]\(#(?!lapel)/, `${alert}: links lead to other alerts`);
  }
});

t.test('every alert is tried: it fires at its fault, and not before', async (t) => {
  const cases = (parse(TESTS) as { tests: Case[] }).tests;
  t.same(cases.map(({ name }) => name).sort(), alerts.map(({ alert }) => alert).sort());
  for (const { name, promql_expr_test: steps } of cases) {
    const firing = steps.map(({ exp_samples: samples = [] }) => samples.map(({ labels }) => labels).join());
    t.ok(firing.length > 0 && firing.length % 2 === 0, `${name}: a look before each fault, and one during it`);
    for (const [index, labels] of firing.entries())
      if (index % 2 === 0) t.notMatch(labels, name);
      else t.match(labels, `{alertname="${name}"}`);
  }
});

t.test('Prometheus accepts the rules and the example of a configuration', { skip: missing.promtool() }, async (t) => {
  for (const command of [
    ['check', 'rules', '--lint-fatal', 'lapel.rules.yml'],
    ['check', 'config', '--lint-fatal', 'prometheus.yml'],
    ['test', 'rules', 'lapel.rules.test.yml'],
  ])
    t.match(await promtool(...command), { code: 0 }, command.join(' '));
});
