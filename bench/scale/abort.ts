import { call, type LapelTarget, startLapel } from '../lapel-target.ts';
import type { Table } from '../report.ts';

const DEVICES = 2_000;
const RULE = { failedPercent: 10, minimumResults: 50 };
const PACE_PER_MINUTE = 60_000;
const LOOK_MS = 20;

interface Seen {
  deviceId: string;
  /** The time at which its command arrived. */
  at: number;
}

async function stopped(target: LapelTarget, seen: readonly Seen[]): Promise<Record<string, number>> {
  const token = target.headers['authorization'] ?? '';
  const url = `${target.origins[0]}/v1/applications/bench/rollouts`;
  const body = {
    operation: 'setLanguage',
    parameters: { lang: 'ja' },
    devices: {},
    abort: RULE,
    ratePerMinute: PACE_PER_MINUTE,
  };
  const { rolloutId } = JSON.parse(await call(url, { method: 'POST', token, body })) as { rolloutId: string };
  type Shown = { state: string; counts: Record<string, number>; history: { event: string; at: string }[] };
  let shown: Shown;
  do {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    shown = JSON.parse(await call(`${url}/${rolloutId}`, { method: 'GET', token })) as Shown;
  } while (shown.state !== 'paused' || (shown.counts['unfinished'] ?? 0) > 0);
  const at = shown.history.find(({ event }) => event === 'paused')?.at ?? '';
  const list = JSON.parse(
    await call(`${target.origins[0]}/v1/applications/bench/transactions?rolloutId=${rolloutId}&limit=1000`, {
      method: 'GET',
      token,
    }),
  ) as { transactions: { publishedAt: string | null }[] };
  const pausedAt = Date.parse(at);
  return {
    devices: DEVICES,
    commanded: new Set(seen.map(({ deviceId }) => deviceId)).size,
    spared: DEVICES - new Set(seen.map(({ deviceId }) => deviceId)).size,
    'published after the commit': list.transactions.filter(
      ({ publishedAt }) => publishedAt !== null && publishedAt > at,
    ).length,
    'last command on a wire, ms after': Math.max(...seen.map((one) => one.at)) - pausedAt,
  };
}

/** Stops a rollout by its rule: a fifth of its connected devices fail. */
export async function runAbort(): Promise<Table> {
  const rows: Table['rows'] = [];
  for (const nodes of [0, 3]) {
    const seen: Seen[] = [];
    await using stack = new AsyncDisposableStack();
    const target = stack.adopt(
      await startLapel({
        devices: DEVICES,
        nodes,
        answer(deviceId, operation) {
          if (operation !== 'setLanguage') return { status: 'succeeded' };
          seen.push({ deviceId, at: Date.now() });
          const fails = Number(deviceId.slice(-5, -1)) % 5 === 0;
          return fails ? { status: 'failed', error: { code: 'BROKEN', message: '' } } : { status: 'succeeded' };
        },
      }),
      (one) => one.close(),
    );
    rows.push({ nodes: Math.max(nodes, 1), ...(await stopped(target, seen)) });
  }
  const about = `A rollout for ${DEVICES} connected devices, of which a fifth fail; it is paused at ${RULE.failedPercent} % failures after ${RULE.minimumResults} results.`;
  return { name: 'Abort', about, rows };
}
