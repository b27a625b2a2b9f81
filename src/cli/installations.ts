import type { ApplicationClient } from './application-client.ts';
import { Failure } from './failure.ts';
import { bar } from './progress.ts';
import type { Screen, Terminal } from './terminal.ts';

/** An installation on one device, as far as it is known. */
export interface Installation {
  deviceId: string;
  /** Null: the service refused to begin it. */
  transactionId: number | null;
  /** The transaction's, or `refused`. */
  status: string;
  progress: number | null;
  error: { code: string; message: string } | null;
}

const FINISHED = new Set(['succeeded', 'failed', 'cancelled', 'refused']);
export const isFinished = ({ status }: Installation): boolean => FINISHED.has(status);

const PARALLEL = 8;
// Milliseconds. Many devices are asked about less often: no more than 50 questions a second.
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 3000;
const PER_DEVICE = 20;
const FAILURES_IN_A_ROW = 20;

async function inParallel<Item>(items: readonly Item[], task: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await task(item);
  };
  // All come to their end, also when one fails: nothing goes on behind the caller's back.
  const ends = await Promise.allSettled(Array.from({ length: PARALLEL }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

const words = ({ status, progress, error }: Installation): string => {
  if (error) return `${status}: ${error.code} ${error.message}`;
  if (status === 'queued') return 'queued: waits for the device';
  return status === 'processing' && progress !== null ? `processing ${bar(progress)}` : status;
};

interface Parts {
  application: ApplicationClient;
  screen: Screen;
}

/** Op 28 on each of the devices; one that refuses holds up no other. */
export async function beginInstallations(
  deviceIds: readonly string[],
  software: { package: string; version: string },
  { application: { request, base }, screen }: Parts,
): Promise<Installation[]> {
  const installations = deviceIds.map(
    (deviceId): Installation => ({ deviceId, transactionId: null, status: 'refused', progress: null, error: null }),
  );
  await inParallel(installations, async (installation) => {
    const { deviceId } = installation;
    try {
      const what = `install on ${deviceId}`;
      const { body } = await request('PUT', `${base}/devices/${deviceId}/apps`, { what, body: software });
      installation.transactionId = Number(body.transactionId);
      installation.status = 'queued';
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { refusal, message, advice } = error;
      const faults = refusal?.details.map(({ loc, msg }) => ` ${loc.join('.')}: ${msg};`).join('') ?? '';
      const text = `${refusal?.reason ?? message}${faults}${advice[0] ? ` ${advice[0]}` : ''}`;
      installation.error = { code: refusal ? String(refusal.status) : 'UNREACHABLE', message: text };
    }
  });
  for (const installation of installations) {
    if (installation.status === 'refused') screen.line(`${installation.deviceId}  ${words(installation)}`);
  }
  return installations;
}

/**
 * Follows transactions to their end, or for `timeout` milliseconds; what is shown is each change of each device. The
 * service may be away for about a minute. Throws a Failure.
 */
export async function followInstallations(
  installations: readonly Installation[],
  { application: { request, base }, screen, terminal, timeout }: Parts & { terminal: Terminal; timeout: number | null },
): Promise<void> {
  const began = terminal.now();
  const last = new Map<Installation, string>();
  let pause = SHORTEST_PAUSE;
  let failures = 0;

  async function look(installation: Installation): Promise<void> {
    const { deviceId, transactionId } = installation;
    const what = `read transaction ${transactionId} of ${deviceId}`;
    const { body } = await request('GET', `${base}/devices/${deviceId}/transactions/${transactionId}`, { what });
    installation.status = String(body.status);
    installation.progress = body.progress as number | null;
    installation.error = body.error as Installation['error'];
  }

  function show(): boolean {
    let changed = false;
    for (const installation of installations) {
      // On a terminal the percents move in the lines that change; elsewhere every tenth would still be too much.
      const state = installation.error ? words(installation) : installation.status;
      if (installation.transactionId === null || last.get(installation) === state) continue;
      last.set(installation, state);
      changed = true;
      const text = installation.status === 'processing' ? 'processing' : words(installation);
      if (!screen.live || isFinished(installation)) screen.line(`${installation.deviceId}  ${text}`);
    }
    screen.show(installations.filter((one) => !isFinished(one)).map((one) => `${one.deviceId}  ${words(one)}`));
    return changed;
  }

  show();
  try {
    for (;;) {
      const rest = installations.filter((one) => !isFinished(one));
      if (rest.length === 0) return;
      const elapsed = terminal.now() - began;
      if (timeout !== null && elapsed >= timeout) return;
      const wanted = Math.max(pause, rest.length * PER_DEVICE);
      await terminal.pause(timeout === null ? wanted : Math.min(wanted, timeout - elapsed));
      try {
        await inParallel(rest, look);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (!(error instanceof Failure) || !error.passing || failures === FAILURES_IN_A_ROW) throw error;
        if (failures === 1) screen.line(`${error.message}; trying again`);
      }
      pause = show() ? SHORTEST_PAUSE : Math.min(LONGEST_PAUSE, pause * 1.5);
    }
  } finally {
    screen.show([]);
  }
}
