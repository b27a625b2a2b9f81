import { warmUp } from './closed-loop.ts';
import { startFloor } from './floor-target.ts';
import { startLapel } from './lapel-target.ts';
import { measureLoop, medianOf, type Options, type Sample } from './measure.ts';
import type { Table } from './report.ts';
import type { Route } from './routes.ts';
import type { RunningTarget } from './running-target.ts';

/**
 * Measures the closed loop in turns: with each number of nodes on one PostgreSQL server, with one node on the embedded
 * database, and of the floor on both databases. With few cores several nodes cannot be faster than one, so the
 * processor time of a loop counts, for the nodes and for the database, and whether it stays the same with more nodes.
 */
export async function runNodes(
  options: Options & { nodes: readonly number[]; routes: readonly Route[] },
): Promise<Table> {
  const { seconds, rounds, devices, callers, nodes, routes, profile } = options;
  const starts: Record<string, () => Promise<RunningTarget>> = {
    'floor on SQLite': () => startFloor({ devices }),
    'floor on PostgreSQL': () => startFloor({ devices, database: 'postgres' }),
    'Lapel on SQLite': () => startLapel({ devices }),
  };
  for (const count of nodes) {
    // One node is the node of each device.
    for (const route of count === 1 ? routes.filter((one) => one !== 'direct') : routes) {
      const name = `${count} on PostgreSQL${route === 'spread' ? '' : `, ${route}`}`;
      starts[name] = () => startLapel({ devices, nodes: count, route, profile });
    }
  }

  const samples = new Map<string, Sample[]>();
  const keyOf = (name: string, count: number): string => `${name} ${count}`;
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, start] of Object.entries(starts)) {
      const target = await start();
      try {
        await warmUp(target);
        for (const count of callers) {
          const key = keyOf(name, count);
          samples.set(key, [...(samples.get(key) ?? []), await measureLoop(target, count, seconds)]);
        }
      } finally {
        await target.close();
      }
    }
  }
  const of = (name: string, count: number, figure: (sample: Sample, index: number) => number): number =>
    medianOf((samples.get(keyOf(name, count)) ?? []).map(figure), (value) => value);
  const ratio = (name: string, other: string, count: number): number =>
    Number(
      of(name, count, ({ rate }, index) => rate / (samples.get(keyOf(other, count))?.[index]?.rate ?? 0)).toFixed(2),
    );
  /** The processor time of a loop, of nodes and database, as a ratio to that of SQLite in the same round. */
  const timeOfSqlite = (name: string, count: number): number => {
    const sqlite = samples.get(keyOf('Lapel on SQLite', count)) ?? [];
    const all = ({ cpu, databaseCpu }: Sample): number => cpu + databaseCpu;
    return Number(of(name, count, (sample, index) => all(sample) / all(sqlite[index] ?? sample)).toFixed(2));
  };
  const rows = Object.keys(starts).flatMap((name) =>
    callers.map((count) => ({
      what: name,
      callers: count,
      'loops/s': Math.round(of(name, count, ({ rate }) => rate)),
      'p50 ms': Number(of(name, count, ({ p50 }) => p50).toFixed(2)),
      'p99 ms': Number(of(name, count, ({ p99 }) => p99).toFixed(2)),
      'nodes us/loop': Math.round(of(name, count, ({ cpu }) => cpu)),
      'database us/loop': Math.round(of(name, count, ({ databaseCpu }) => databaseCpu)),
      'balancer us/loop': Math.round(of(name, count, ({ balancerCpu }) => balancerCpu)),
      crossed: Number(of(name, count, ({ crossed }) => crossed).toFixed(2)),
      'time of SQLite': timeOfSqlite(name, count),
      'of SQLite': ratio(name, name.startsWith('floor') ? 'floor on SQLite' : 'Lapel on SQLite', count),
      'of the floor': ratio(name, name.endsWith('SQLite') ? 'floor on SQLite' : 'floor on PostgreSQL', count),
    })),
  );
  return {
    name: 'Nodes',
    about:
      'The closed loop on PostgreSQL. Callers and devices are spread over the nodes, so most commands cross from one to another; with a route to the node of the device (direct, haproxy) none does.',
    rows,
  };
}
