import type { Metrics } from '../../../metrics.ts';
import { createBackgroundWork } from '../../../platform/database/looks.ts';
import type { Database } from '../../../platform/database/sql.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Micros, Millis } from '../../../runtime/units.ts';
import { objectsOfEntries } from '../audit-repository.ts';
import { findChain, listSealed } from '../chain-repository.ts';
import { findNextAt, findSent, saveSent } from './receiver-repository.ts';
import { createSyslogLine } from './syslog-line.ts';
import { syslogMessage } from './syslog-message.ts';

/** The most entries of one connection. */
export const ENTRIES_AT_ONCE = 200;
/** Milliseconds until the next attempt, after the first failure and at most. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** Milliseconds between two runs: entries of other nodes, and of commands on the machine, do not wake this one. */
const LOOK_MS = 5_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'auditSent' | 'auditSendFailures'>;
  target: URL;
  caFile: string | null;
  /** The name of this machine. */
  host: string;
  /** True on one node only, and always without a cluster. */
  leads(): boolean;
}

export type AuditSender = ReturnType<typeof createAuditSender>;

/**
 * Sends the sealed entries of the audit log to a receiver of syslog messages, in their order, on the node that leads. The
 * database knows how far the receiver has taken them, so nothing is lost while it is away: sending goes on from there. An
 * entry can come twice, after a failure or a change of the leading node; its position says so.
 */
export function createAuditSender({ database, clock, log, metrics, target, caFile, host, leads }: Parts) {
  const receiver = target.href;
  const line = createSyslogLine({ clock, target, caFile });
  let failures = 0;
  const background = createBackgroundWork({
    clock,
    log,
    run: sendAll,
    retryMs: RETRY_MS,
    failed: 'the audit log could not be read for its receiver; trying again',
  });

  async function sendNext(): Promise<boolean> {
    const position = await findSent(database.read, receiver);
    const rows = await listSealed(database.read, position, ENTRIES_AT_ONCE);
    const last = rows.at(-1);
    if (!last || last.position === null) return false;
    const first = rows[0]?.position ?? 0;
    if (position > 0 && first > position + 1)
      log.error({ receiver, from: position + 1, to: first - 1 }, 'entries were removed before their receiver had them');
    const objects = await objectsOfEntries(
      database.read,
      rows.map(({ auditId }) => auditId),
    );
    if (!background.isOn()) return false;
    await line.send(rows.map((row) => syslogMessage(row, objects.get(row.auditId) ?? [], host)));
    const upTo = last.position;
    await database.transact((unit) => saveSent(unit, receiver, upTo, clock.now()), { pace: 'soon' });
    metrics.auditSent.inc(rows.length);
    return true;
  }

  async function sendAll(): Promise<Millis> {
    while (background.isOn() && leads()) {
      background.takeNews();
      try {
        if (!(await sendNext())) break;
      } catch (err) {
        if (!background.isOn()) break;
        metrics.auditSendFailures.inc();
        if (failures === 0) log.warn({ err, receiver }, 'the receiver of the audit log does not take it; trying again');
        failures += 1;
        background.takeNews(); // what comes meanwhile does not shorten the pause
        return Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** (failures - 1));
      }
      if (failures > 0) log.info({ receiver, failures }, 'the receiver of the audit log takes it again');
      failures = 0;
    }
    return LOOK_MS;
  }

  return {
    start: background.start,
    /** Call this after the commit of a sealed entry. */
    wake(): void {
      if (failures === 0) background.wake();
    },
    idle: background.idle,

    /** The number of entries that the receiver does not have yet, and the time of the oldest. */
    async waiting(): Promise<{ count: number; oldestAt: Micros | null }> {
      const [chain, position] = [await findChain(database.read), await findSent(database.read, receiver)];
      if (!chain || chain.position <= position) return { count: 0, oldestAt: null };
      const count = chain.position - Math.max(position, chain.cutPosition);
      return { count, oldestAt: (await findNextAt(database.read, position)) ?? null };
    },

    async [Symbol.asyncDispose](): Promise<void> {
      const stopped = background.stop();
      line.abort();
      await stopped;
    },
  };
}
