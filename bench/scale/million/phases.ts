import type { Client } from 'pg';
import type { PostgresServer } from '../../../harness/postgres-server.ts';
import type { Row } from '../../report.ts';
import type { startNodeProcesses } from './node-processes.ts';
import type { Answer, Order } from './orders.ts';
import { type Look, lookAt, machineSeconds, purposesBetween, sampleWaits } from './server-figures.ts';

interface Parts {
  client: Client;
  server: Pick<PostgresServer, 'cpuSeconds'>;
  processes: Pick<ReturnType<typeof startNodeProcesses>, 'order'>;
  log(text: string): void;
}

export interface Phase {
  name: string;
  seconds: number;
  before: Look;
  after: Look;
  answer: Answer;
  /** The most frequent waits of the server's processes, with how many wait on average. */
  waits: string;
  databaseCores: number;
  /** The cores that other programs of this machine used meanwhile. */
  otherCores: number;
  /** The smallest share of its rate that a part has reached. */
  held: number;
}

/** Milliseconds until the server's processes have reported their figures. */
const REPORTED_MS = 1_500;

const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** Keep-alives are not timed, because nobody waits for them: their cells stay empty. */
function percentile(sorted: readonly number[], share: number): number | '' {
  const found = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return found === undefined ? '' : rounded(found, 1);
}

/** Runs the phases of the measurement one after another, and makes rows of their figures. */
export function createPhases({ client, server, processes, log }: Parts) {
  const all: Phase[] = [];
  const look = (): Promise<Look> => lookAt(client, server.cpuSeconds);

  return {
    async run(name: string, order: Order): Promise<Phase> {
      log(name);
      const before = await look();
      const began = performance.now();
      const machine = machineSeconds();
      const stop = sampleWaits(client);
      const answer = await processes.order(order);
      const seconds = (performance.now() - began) / 1000;
      const cpuSeconds = server.cpuSeconds();
      const others = machineSeconds() - machine - (cpuSeconds - before.cpuSeconds) - answer.cpuSeconds;
      const waits = await stop();
      await new Promise((resolve) => setTimeout(resolve, REPORTED_MS));
      const after = { ...(await look()), cpuSeconds };
      const shares = Object.values(answer.parts).map(({ due, done }) => done / Math.max(1, due));
      const databaseCores = (cpuSeconds - before.cpuSeconds) / seconds;
      const otherCores = Math.max(0, others / seconds);
      const held = Math.min(1, ...shares);
      const phase = { name, seconds, before, after, answer, waits, databaseCores, otherCores, held };
      all.push(phase);
      log(`${name}: ${JSON.stringify({ ...this.serverRow(phase), held: phase.held, connected: answer.connected })}`);
      return phase;
    },

    /** What was called in each phase, and how much of it was done. */
    callRows: (): Row[] =>
      all.flatMap(({ name, seconds, answer }) =>
        Object.entries(answer.parts).map(([part, { due, done, failed, times }]) => {
          const sorted = times.toSorted((a, b) => a - b);
          return {
            phase: name,
            calls: part,
            'due/s': rounded(due / seconds, 0),
            'done/s': rounded(done / seconds, 0),
            'held %': rounded((100 * done) / Math.max(1, due), 1),
            failed,
            'p50 ms': percentile(sorted, 0.5),
            'p99 ms': percentile(sorted, 0.99),
            'longest ms': percentile(sorted, 1),
          };
        }),
      ),

    serverRow({ name, seconds, before, after, answer, waits, databaseCores, otherCores }: Phase): Row {
      const spent = purposesBetween(before, after);
      const cores = (...purposes: string[]): number =>
        rounded(purposes.reduce((total, purpose) => total + (spent.get(purpose) ?? 0), 0) / seconds, 3);
      const sum = (figure: 'inserted' | 'updated' | 'hot' | 'deleted'): number =>
        [...after.tables.values()].reduce(
          (total, table) => total + table[figure] - (before.tables.get(table.name)?.[figure] ?? 0),
          0,
        );
      const clients = ['lapel', 'lapel lease', 'lapel hints', 'bench', 'ended'];
      return {
        phase: name,
        seconds: rounded(seconds, 0),
        'PostgreSQL cores': rounded(databaseCores, 3),
        units: cores('lapel'),
        leases: cores('lapel lease'),
        hints: cores('lapel hints'),
        'own processes': cores(...[...spent.keys()].filter((purpose) => !clients.includes(purpose))),
        'ended (autovacuum)': cores('ended'),
        'driver, cores': rounded(answer.cpuSeconds / seconds, 2),
        'others, cores': rounded(otherCores),
        'log kB/s': rounded((after.walBytes - before.walBytes) / seconds / 1000, 0),
        'page images/s': rounded((after.pageImages - before.pageImages) / seconds, 0),
        'commits/s': rounded((after.commits - before.commits) / seconds, 0),
        'rows written/s': rounded((sum('inserted') + sum('updated') + sum('deleted')) / seconds, 0),
        'HOT %': rounded((100 * sum('hot')) / Math.max(1, sum('updated')), 0),
        checkpoints: after.checkpoints - before.checkpoints,
        waits,
      };
    },

    /** The processor time, the log and the rows of each phase. */
    serverRows(): Row[] {
      return all.map((phase) => this.serverRow(phase));
    },
  };
}
