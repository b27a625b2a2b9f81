import { readFileSync } from 'node:fs';
import type { Client } from 'pg';

/** The figures of a table that rise, and its present size. */
export interface TableFigures {
  name: string;
  inserted: number;
  updated: number;
  /** Updates that changed no index (HOT). */
  hot: number;
  deleted: number;
  dead: number;
  vacuums: number;
  heapBytes: number;
  indexBytes: number;
}

/** The figures of a server at a moment. */
export interface Look {
  /** Seconds of processor time of the whole server. */
  cpuSeconds: number;
  /** Seconds by the purpose of the server's processes, those that still run. */
  purposes: Map<number, { purpose: string; seconds: number }>;
  walBytes: number;
  pageImages: number;
  commits: number;
  checkpoints: number;
  tables: Map<string, TableFigures>;
}

const TICKS_PER_SECOND = 100;

function secondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0; // it has ended
  }
}

/** Seconds of processor time of everything that runs on this machine; NaN if the kernel does not tell. */
export function machineSeconds(): number {
  try {
    const [, user, nice, system, , , irq, softIrq] = readFileSync('/proc/stat', 'utf8').split(/\s+/);
    return [user, nice, system, irq, softIrq].reduce((total, ticks) => total + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN; // not Linux
  }
}

/** A client is known by the name of its connection, another process by its kind. */
const PROCESSES = `SELECT pid, CASE WHEN backend_type = 'client backend' THEN application_name ELSE backend_type END AS purpose
  FROM pg_stat_activity`;
const TABLES = `SELECT s.relname AS name, n_tup_ins AS inserted, n_tup_upd AS updated, n_tup_hot_upd AS hot, n_tup_del AS deleted,
  n_dead_tup AS dead, autovacuum_count AS vacuums, pg_table_size(s.relid) AS "heapBytes",
  pg_indexes_size(s.relid) AS "indexBytes" FROM pg_stat_user_tables s`;
/** PostgreSQL 17 has moved the counts of checkpoints. */
const CHECKPOINTS = (version: number): string =>
  version >= 170_000
    ? 'SELECT num_timed + num_requested AS count FROM pg_stat_checkpointer'
    : 'SELECT checkpoints_timed + checkpoints_req AS count FROM pg_stat_bgwriter';

const numeric = (row: object): Record<string, number> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));

/** Reads the figures of the server. */
export async function lookAt(client: Client, cpuSeconds: () => number): Promise<Look> {
  const one = async (text: string): Promise<Record<string, number>> =>
    numeric((await client.query(text)).rows[0] ?? {});
  const { version = 0 } = await one(`SELECT current_setting('server_version_num')::int AS version`);
  const processes = (await client.query<{ pid: number; purpose: string }>(PROCESSES)).rows;
  const wal = await one('SELECT wal_bytes AS bytes, wal_fpi AS images FROM pg_stat_wal');
  const tables = (await client.query<{ name: string }>(TABLES)).rows.map(({ name, ...figures }) => ({
    ...(numeric(figures) as unknown as Omit<TableFigures, 'name'>),
    name,
  }));
  return {
    cpuSeconds: cpuSeconds(),
    purposes: new Map(processes.map(({ pid, purpose }) => [pid, { purpose, seconds: secondsOf(pid) }])),
    walBytes: wal['bytes'] ?? 0,
    pageImages: wal['images'] ?? 0,
    commits: (await one('SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()'))['n'] ?? 0,
    checkpoints: (await one(CHECKPOINTS(version)))['count'] ?? 0,
    tables: new Map(tables.map((table) => [table.name, table])),
  };
}

/** Seconds of processor time between two looks, by purpose. `ended` are processes that have ended, mostly of autovacuum. */
export function purposesBetween(before: Look, after: Look): Map<string, number> {
  const spent = new Map<string, number>();
  let known = 0;
  for (const [pid, { purpose, seconds }] of after.purposes) {
    const since = seconds - (before.purposes.get(pid)?.seconds ?? 0);
    known += since;
    spent.set(purpose, (spent.get(purpose) ?? 0) + since);
  }
  spent.set('ended', Math.max(0, after.cpuSeconds - before.cpuSeconds - known));
  return spent;
}

const SAMPLE_MS = 1_000;

/** Samples what the server's processes wait for, once a second; `stop` returns the three most frequent waits. */
export function sampleWaits(client: Client) {
  const seen = new Map<string, number>();
  let samples = 0;
  let sampling: Promise<void> | undefined;
  const sample = async (): Promise<void> => {
    const { rows } = await client.query<{ wait: string; count: string }>(
      `SELECT wait_event_type || ' ' || wait_event AS wait, count(*) AS count FROM pg_stat_activity
       WHERE state = 'active' AND wait_event_type NOT IN ('Client', 'Activity') GROUP BY 1`,
    );
    samples += 1;
    for (const { wait, count } of rows) seen.set(wait, (seen.get(wait) ?? 0) + Number(count));
  };
  const timer = setInterval(() => {
    sampling ??= sample()
      .catch(() => undefined)
      .finally(() => {
        sampling = undefined;
      });
  }, SAMPLE_MS);
  return async function stop(): Promise<string> {
    clearInterval(timer);
    await sampling;
    return [...seen]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 3)
      .map(([wait, count]) => `${wait} ${(count / Math.max(1, samples)).toFixed(1)}`)
      .join(', ');
  };
}

/** The runs of autovacuum in the server's log, by table: how many, and their seconds in all. */
export async function vacuumsInLog(client: Client): Promise<Map<string, { runs: number; seconds: number }>> {
  const { rows } = await client.query<{ text: string | null }>('SELECT pg_read_file(pg_current_logfile()) AS text');
  const found = new Map<string, { runs: number; seconds: number }>();
  const run = /automatic (?:aggressive )?vacuum of table "[^".]+\.[^".]+\.([^"]+)"[\s\S]*?elapsed: ([\d.]+) s/g;
  for (const [, table = '', seconds] of (rows[0]?.text ?? '').matchAll(run)) {
    const before = found.get(table) ?? { runs: 0, seconds: 0 };
    found.set(table, { runs: before.runs + 1, seconds: before.seconds + Number(seconds) });
  }
  return found;
}
