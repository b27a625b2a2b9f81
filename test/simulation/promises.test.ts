import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS, type CheckName } from '@lapel/device-sim/promises/checks';
import { PROMISES } from '@lapel/device-sim/promises/promises';
import { FIGURES } from '@lapel/device-sim/report/figure-names';
import { readyNames } from '@lapel/device-sim/scenario/ready';
import t from 'tap';
import { playScenarios } from './played-scenarios.ts';

const ROOT = join(import.meta.dirname, '../..');
const NAMES = Object.keys(CHECKS) as CheckName[];

/** The number of devices with which a world plays each scenario. */
const SIZES: Readonly<Record<string, number>> = {
  campaign: 40,
  canary: 60,
  endpoints: 15,
  hours: 5,
  promises: 30,
  smoke: 20,
  turnover: 20,
};

/** Checks of the machine's time, memory and processes, which a world has not: ready.test.ts and service-faults.test.ts see them. */
const OF_THE_MACHINE: readonly CheckName[] = ['service-answers', 'service-halts', 'service-memory', 'service-ends'];

/** The anchors of the headings and of the named rows of a page. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}

t.test('each promise has a check and scenarios that play it, or a test of the service', async (t) => {
  const ready = readyNames();
  const anchors = new Map<string, Set<string>>();
  for (const { promise, source, checks, scenarios, test } of PROMISES) {
    const [page = '', anchor = ''] = source.split('#');
    if (!anchors.has(page)) anchors.set(page, anchorsOf(page));
    t.ok(anchors.get(page)?.has(anchor), `docs/${source}: ${promise}`);
    if (test === undefined) t.ok(checks.length > 0 && scenarios.length > 0, promise);
    else t.ok(checks.length === 0 && existsSync(join(ROOT, 'test', test)), `test/${test}`);
    t.strictSame(
      scenarios.filter((name) => !ready.includes(name)),
      [],
    );
  }
  t.equal(new Set(PROMISES.map(({ promise }) => promise)).size, PROMISES.length, 'no promise is there twice');
});

t.test('each check holds a promise, and counts in a figure that expectations can name', async (t) => {
  const named = new Set(PROMISES.flatMap(({ checks }) => checks));
  t.strictSame(
    NAMES.filter((name) => !named.has(name)),
    [],
  );
  t.strictSame(
    NAMES.filter((name) => !Object.hasOwn(FIGURES, CHECKS[name].figure)),
    [],
  );
});

t.test('each check looks in each scenario that plays its promise, and the service keeps it', async (t) => {
  const wanted = PROMISES.flatMap(({ checks, scenarios }) =>
    scenarios.flatMap((scenario) => checks.map((check) => ({ scenario, check }))),
  ).filter(({ check }) => !OF_THE_MACHINE.includes(check));
  const scenarios = [...new Set(wanted.map(({ scenario }) => scenario))].sort();
  t.strictSame(scenarios, Object.keys(SIZES), 'each of these scenarios plays a promise');
  const half = Math.ceil(scenarios.length / 2);
  const small = scenarios.map((name) => ({ name, scale: { devices: SIZES[name] } }));
  const told = (await Promise.all([playScenarios(small.slice(0, half)), playScenarios(small.slice(half))])).flat();
  for (const { name, broken } of told) t.strictSame(broken, [], `${name}: all its expectations hold`);
  const looks = new Map(told.map((one) => [one.name, one.looks]));
  t.strictSame(
    wanted.filter(({ scenario, check }) => !looks.get(scenario)?.[check]),
    [],
  );
});
