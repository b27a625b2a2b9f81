import { dd, div, dl, dt, li, span, ul, use, type VNode } from '../base/elements.ts';
import { bytes } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { readMetrics } from '../base/metrics.ts';
import { PUBLIC } from '../base/operations.ts';
import { ROOT } from '../base/place.ts';
import { alarmReceiverCard } from '../parts/alarm-receiver.ts';
import { judged } from '../parts/alarms.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { badge, card, said } from '../parts/show.ts';
import { nodesCards } from './health-nodes.ts';
import { stepsCards } from './health-steps.ts';

/** Milliseconds between two requests for the state of the service. */
const EVERY = 5_000;

const SIZES = [
  ['lapel_database_bytes{file="database"}', 'Database'],
  ['lapel_database_bytes{file="wal"}', 'Write-ahead log'],
  ['lapel_database_free_bytes', 'Free space inside the database'],
  ['lapel_objects_stored_bytes', 'Stored objects'],
  ['lapel_disk_free_bytes', 'Free space on the disk'],
  ['process_resident_memory_bytes', 'Memory of the process'],
] as const;

function Readiness() {
  const ready = useLoad(
    'ready',
    async (signal) => {
      const response = await fetch(ROOT + PUBLIC.readReadiness.path, { signal, cache: 'no-store' });
      return ((await response.json()) as { problems?: (string | { part?: string })[] }).problems ?? [];
    },
    { every: EVERY },
  );
  return card(
    { title: 'Readiness' },
    loaded(ready, (problems) =>
      problems.length === 0
        ? div({ class: 'row' }, badge('good', 'ready'), span({ class: 'soft' }, 'Every part of the service is ready.'))
        : ul(
            { class: 'stack tight' },
            problems.map((problem, index) =>
              li({ key: index, class: 'fault' }, said(typeof problem === 'string' ? problem : JSON.stringify(problem))),
            ),
          ),
    ),
  );
}

function Sizes() {
  const sizes = useLoad('metrics', readMetrics, { every: 2 * EVERY });
  return card(
    { title: 'Sizes', bare: true },
    loaded(sizes, (values) => {
      const known = SIZES.filter(([name]) => values.has(name));
      return dl(
        { class: 'facts' },
        known.map(([name, words]) =>
          div({ key: name }, dt(null, words), dd(null, span({ class: 'num' }, bytes(values.get(name)!)))),
        ),
      );
    }),
  );
}

function Health() {
  return [
    head({ title: 'Health' }),
    judged(),
    alarmReceiverCard(),
    stepsCards(),
    nodesCards(),
    div({ class: 'columns' }, use(Readiness, {}), use(Sizes, {})),
  ];
}

export const healthPage = (): VNode => use(Health, {});
