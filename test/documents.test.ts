import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readCommandLine } from '@lapel/device-sim/command-line';
import { readScenario } from '@lapel/device-sim/scenario/read-scenario';
import { CLIENTS_OWN, RENAMED, SETTINGS } from '@lapel/schemas/contracts/settings';
import { ciJobs } from '@lapel/tools/scripts/ci-jobs';
import { documents } from '@lapel/tools/scripts/tables';
import t from 'tap';
import { nextStatus, TRANSACTION_STATUSES, type TransactionEvent } from '../src/core/transactions/transaction.ts';
import { createMetrics } from '../src/metrics.ts';

const ROOT = join(import.meta.dirname, '..');
const pages = ['.', 'docs', 'docs/contributing', 'docs/decisions']
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.md'));
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

t.test('tables of the documents match the code', async (t) => {
  for (const { file, now, wanted } of documents()) t.equal(now, wanted, `${file}: npm run generate`);
});

t.test('the table of states matches the state machine', async (t) => {
  const text = textOf('docs/reference.md').split('<!-- states -->')[1]?.split('<!-- /states -->')[0] ?? '';
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const events = TRANSACTION_STATUSES.filter((status) => status !== 'queued') as TransactionEvent[];
  const expected = TRANSACTION_STATUSES.map((status) => [
    `\`${status}\``,
    events
      .filter((event) => nextStatus(status, event))
      .map((event) => `\`${event}\``)
      .join(', '),
  ]);
  t.same(
    rows.map(([, state, , next]) => [state, next]),
    expected,
  );
});

/** The lines of prose of a page with their numbers: no code, no tables, and nothing that is generated between marks. */
function proseOf(text: string): [line: string, number: number][] {
  let fence = false;
  let mark = false;
  return text.split('\n').flatMap((line, index): [string, number][] => {
    const isFence = /^ *```/.test(line);
    if (isFence) fence = !fence;
    if (/^<!-- [^/]/.test(line)) mark = true;
    if (line.startsWith('<!-- /')) mark = false;
    const isProse = !isFence && !fence && !mark && !/^\||^<!-- /.test(line) && line.trim() !== '';
    return isProse ? [[line, index + 1]] : [];
  });
}

/** Pages of a few sentences. */
const SHORT =
  /^(?:CODE_OF_CONDUCT|SECURITY|docs\/(?:dry-runs|with-curl)|docs\/contributing\/(?:english|trials)|docs\/decisions\/.*)\.md$/;

t.test('prose has at most 120 characters a line', async (t) => {
  for (const page of pages.filter((page) => page !== 'CONFORMANCE.md')) {
    const lines = proseOf(textOf(page));
    const fewest = SHORT.test(page) ? 3 : 20;
    t.ok(lines.length >= fewest, `${page} has prose that was looked at`);
    for (const [line, number] of lines) if (Array.from(line).length > 120) t.fail(`${page}:${number} is too long`);
  }
  t.ok(pages.length >= 10, 'there are pages');
  t.same(proseOf('one\n```\ncode\n```\n| cell |\n<!-- x -->\nmade\n<!-- /x -->\n\ntwo'), [
    ['one', 1],
    ['two', 10],
  ]);
});

t.test('no page and no schema shows the numbering of the specification', async (t) => {
  const schemas = readdirSync(join(ROOT, 'schemas'), { recursive: true, encoding: 'utf8' });
  const texts = [
    ...pages
      .filter((page) => !/contributing/i.test(page)) // code may cite the numbering
      .map((page): [string, string] => [page, textOf(page)]),
    ...schemas
      .filter((name) => /\.(json|yaml)$/.test(name))
      .map((name): [string, string] => [name, textOf(join('schemas', name)).replace(/x-specification-row: .*/g, '')]),
  ];
  t.ok(texts.length >= 200, 'pages and schemas were looked at');
  for (const [name, text] of texts) t.notOk(/\bops? \d/i.test(text), name);
});

/** The anchor that a heading gets. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

t.test('every link between documents leads to a page, and to a heading or a row', async (t) => {
  for (const page of pages) {
    const words = textOf(page).replace(/^```.*?^```$/gms, '');
    for (const [, link = ''] of words.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      t.ok(existsSync(join(ROOT, target)), `${page}: ${link}`);
      if (anchor === undefined) continue;
      const headings = [...textOf(target).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
      const rows = [...textOf(target).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
      t.ok([...headings, ...rows].includes(anchor), `${page}: ${link}`);
    }
  }
});

t.test('no page has two sections of one name, and the contents of a long page name all of its sections', async (t) => {
  for (const page of pages) {
    const text = textOf(page).replace(/^```.*?^```$/gms, '');
    const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
    t.ok(anchors.length > 0, `${page} has headings`);
    if (page !== 'CHANGELOG.md') t.equal(new Set(anchors).size, anchors.length, `${page}: every heading once`);
    const contents = text.split(/^## /m)[0] ?? '';
    const sections = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
    if (textOf(page).length < 12_000 || page === 'CHANGELOG.md' || page === 'CONFORMANCE.md') continue;
    for (const section of sections) t.ok(contents.includes(`](#${section})`), `${page}: contents without ${section}`);
  }
  const operations = textOf('docs/operations.md');
  for (const name of ['The console', 'Backups', 'Upgrades', 'Sizing'])
    t.equal(operations.split(`\n## ${name}\n`).length, 2, name);
});

t.test('files and folders that the documents name exist', async (t) => {
  for (const page of pages.filter((page) => page !== 'CHANGELOG.md')) {
    const names = textOf(page).matchAll(
      /(?:`|'\.\/)((?:src|test|device-sim|demo|bench|scripts|schemas|docs|bin|console|harness|deploy|\.ci)\/[\w./-]*)[`']/g,
    );
    for (const [, name = ''] of names) t.ok(existsSync(join(ROOT, name)), `${page}: ${name}`);
  }
});

// `lapel_client` is the package of the client in Python.
t.test('settings and metrics that the documents name exist', async (t) => {
  const settings = new Set<string>([...SETTINGS.map(({ name }) => name), ...CLIENTS_OWN, ...Object.keys(RENAMED)]);
  const metrics = new Set(
    createMetrics()
      .registry.getMetricsAsArray()
      .map(({ name }) => name),
  );
  for (const page of pages) {
    for (const [name] of textOf(page).matchAll(/\bLAPEL_[A-Z0-9_]+\b/g)) t.ok(settings.has(name), `${page}: ${name}`);
    for (const [name] of textOf(page).matchAll(/\blapel_(?!client\b)[a-z0-9_]+\b/g))
      t.ok(metrics.has(name), `${page}: ${name}`);
  }
});

t.test('every npm script, trial and step that a document names exists', async (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const texts = [...pages.map(textOf), ...Object.values(scripts)].join('\n');
  for (const [, name = ''] of texts.matchAll(/npm run\s+([a-z]+(?::[a-z]+)*)/g)) t.ok(scripts[name], name);
  for (const [, kind = '', name = ''] of texts.matchAll(/npm run\s+(try|check|generate) -- ([a-z]+)/g))
    t.match(
      textOf(kind === 'try' ? 'tools/scripts/trial/trials.ts' : `tools/scripts/${kind}.ts`),
      new RegExp(`^ +${name}: |'${name}'`, 'm'),
      `npm run ${kind} -- ${name}`,
    );
});

/** The words of a command, as a shell splits it: quotes hold a word together. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );

t.test('calls of the simulator in the documents are valid', async (t) => {
  const calls = pages.flatMap((page) => [
    ...textOf(page)
      .replaceAll('\\\n', ' ')
      .matchAll(/^(?:npm run sim --|lapel-sim) (.*?)(?: +#.*)?$/gm),
  ]);
  t.ok(calls.length >= 3);
  for (const [call, args = ''] of calls) t.doesNotThrow(() => readCommandLine(wordsOf(args), {}), call);
});

t.test('the scenario in the document for QA is valid', async (t) => {
  const shown = [...textOf('docs/qa.md').matchAll(/^```yaml\n(# yaml-language-server.*?)^```/gms)];
  t.equal(shown.length, 1);
  for (const [, text = ''] of shown) t.doesNotThrow(() => readScenario(text, 'docs/qa.md'));
});

t.test('the jobs for a CI in the document for QA have steps that can be tried', async (t) => {
  const jobs = ciJobs(textOf('docs/qa.md'));
  t.match(
    jobs.map(({ runner, steps }) => ({ runner, script: steps.map(({ script }) => script).join('\n') })),
    ['GitHub', 'GitLab'].map((runner) => ({
      runner,
      script: /^npm ci --ignore-scripts\nLAPEL_DATA_DIR=.* npm run serve &\nbin\/lapel-sim\.mjs run smoke .*$/m,
    })),
  );
  for (const { runner, artifacts, reports } of jobs)
    t.same({ artifacts, reports }, { artifacts: ['fleet-report'], reports: ['fleet-report/junit.xml'] }, runner);
  const withService = textOf('docs/qa.md').replace('  image: node:24\n', '  image: node:24\n  services: [postgres]\n');
  t.throws(() => ciJobs(withService), { message: /"services" is unknown/ }, 'nothing of a job is ignored');
});

t.test('every document is reached from the README', async (t) => {
  const [index, folder] = ['docs/decisions/README.md', 'docs/decisions/'];
  for (const page of pages.filter((page) => page !== 'README.md'))
    if (page.startsWith(folder) && page !== index)
      t.ok(textOf(index).includes(`(${page.slice(folder.length)}) | ${/^# (.*)/.exec(textOf(page))?.[1]} |`), page);
    else t.ok(textOf('README.md').includes(`(${page})`), page);
});
