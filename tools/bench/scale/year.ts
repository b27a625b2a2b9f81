import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRetention } from '../../../src/core/retention/retention.ts';
import * as transactions from '../../../src/core/transactions/transaction-repository.ts';
import { transactionSweep } from '../../../src/core/transactions/transaction-sweep.ts';
import * as deliveries from '../../../src/core/webhooks/delivery-repository.ts';
import { deliverySweep } from '../../../src/core/webhooks/log/delivery-sweep.ts';
import { findPendingTransactions } from '../../../src/core/webhooks/log/delivery-sweep-repository.ts';
import { createMetrics } from '../../../src/metrics.ts';
import type { Database } from '../../../src/platform/database/sql.ts';
import { openSqlite } from '../../../src/platform/database/sqlite/open-sqlite.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { randomIds } from '../../../src/runtime/ids.ts';
import { createLog } from '../../../src/runtime/log.ts';
import type { Options } from '../measure.ts';
import type { Row, Table } from '../report.ts';

const DAY_MICROS = 86_400_000_000;
const DAYS = 365;
const KEPT = { transactions: 90, deliveries: 30 };
const PER_UNIT = 200;
const DEVICES = 50;
/** The number of commands in a hundred that no device answers. */
const UNANSWERED = 1;
const MEBIBYTE = 1024 ** 2;

/** A clock that the benchmark moves, and whose scheduled task the benchmark calls. */
function createHandClock() {
  let now = Date.UTC(2026, 0, 1) * 1000;
  let task = (): void => undefined;
  const clock: Clock = {
    now: () => now,
    wall: () => now,
    steady: () => now / 1000,
    after: (_, next) => {
      task = next;
      return () => undefined;
    },
  };
  const pass = (micros: number): void => {
    now += micros;
  };
  return { clock, pass, next: () => task() };
}

/** Writes commands, their acknowledgements, their webhooks and the answers to these, as the service does. */
async function runCommands(database: Database, clock: Clock, number: number, count: number): Promise<void> {
  for (let done = 0; done < count; done += PER_UNIT) {
    await database.transact(async (unit) => {
      for (let one = done; one < Math.min(count, done + PER_UNIT); one += 1) {
        const at = clock.now();
        const deviceId = `35700000${String((number + one) % DEVICES).padStart(7, '0')}`;
        const made = {
          deviceId,
          applicationId: 'year',
          operation: 'setWifi',
          attempts: 1,
          publishedAt: null,
          traceparent: null,
          subject: null,
          createdAt: at,
        } as const;
        const parameters = '{"networks":[{"ssid":"office","password":"correct horse","security":"WPA2"}]}';
        const transactionId = await transactions.insertTransaction(unit, made, parameters);
        if (one % 100 < UNANSWERED) continue;
        const record = await transactions.findTransaction(unit, transactionId);
        if (!record) throw new Error('a transaction was not stored');
        const ended = { status: 'succeeded', updatedAt: at, deliveredAt: at, completedAt: at, result: {} } as const;
        transactions.updateTransaction(unit, { ...record, ...ended }, false);
        const deliveryId = randomIds.next('msg', at);
        const name = { applicationId: 'year', deliveryId, deviceId };
        const body = JSON.stringify({
          type: 'transaction.succeeded',
          data: { ...name, transaction: { ...record, ...ended } },
        });
        const event = { setting: 'deviceEvent', type: 'transaction.succeeded', transactionId } as const;
        const stored = { ...name, ...event, body, unsent: false, createdAt: at, traceparent: null };
        deliveries.insertEvent(unit, stored, () => undefined);
        const outcome = { status: 'delivered', statusCode: 200, error: null, nextAttemptAt: null } as const;
        const sent = { sent: 'x'.repeat(103), answer: null };
        const url = 'https://patrol.example.com/lapel/events';
        const attempt = {
          ...name,
          ...outcome,
          ...sent,
          setting: event.setting,
          sequence: null,
          round: 0,
          attempts: 1,
          url,
          at,
        };
        deliveries.saveOutcome(unit, attempt, () => undefined);
      }
    });
  }
}

/**
 * Measures the size of the database over a year, with the default days of retention. It writes fewer commands than a
 * service with a hundred a second would: so rows and bytes have to be multiplied, but the curve over the year is the
 * same.
 */
export async function runYear({ rows: count }: Options): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-bench-'));
  const { clock, pass, next } = createHandClock();
  const steps: number[] = [];
  const opened = openSqlite({ folder, nowMicros: clock.now() });
  const database: Database = {
    ...opened,
    async transact(work, options) {
      let began = 0;
      const result = await opened.transact((unit) => {
        began = performance.now();
        return work(unit);
      }, options);
      if (options?.pace === 'soon') steps.push(performance.now() - began); // the duration of a unit includes its commit
      return result;
    },
  };
  const retention = createRetention({
    database,
    clock,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    trust: { isHeld: () => false, note: async () => undefined },
    sweeps: [
      deliverySweep({ keptDays: KEPT.deliveries }),
      transactionSweep({ keptDays: KEPT.transactions, pendingBefore: findPendingTransactions }),
    ],
    sweepObjects: async () => undefined,
    pauseFactor: 0, // without pauses, so that a year takes minutes
  });
  const rows: Row[] = [];
  const awake = setInterval(() => undefined, 60_000); // the service's background timers alone do not keep the process alive
  try {
    await retention.start();
    const perDay = Math.ceil(count / DAYS);
    let written = 0;
    let days = 0;
    for (let day = 1; day <= DAYS; day += 1) {
      const began = performance.now();
      await runCommands(database, clock, day, perDay);
      written += performance.now() - began;
      days += 1;
      pass(DAY_MICROS);
      next();
      await retention.idle();
      if (day % 30 !== 0 && day !== DAYS) continue;
      const { database: bytes, free } = await database.size();
      const kept = async (table: string): Promise<number> =>
        (await database.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n ?? 0;
      steps.sort((a, b) => a - b);
      rows.push({
        day,
        transactions: await kept('transactions'),
        deliveries: await kept('deliveries'),
        'file MiB': Number((bytes / MEBIBYTE).toFixed(1)),
        'of it free MiB': Number((free / MEBIBYTE).toFixed(1)),
        'commands/s written': Math.round((perDay * days) / (written / 1000)),
        'step p99 ms': Number((steps[Math.floor(steps.length * 0.99)] ?? 0).toFixed(1)),
        'longest ms': Number((steps.at(-1) ?? 0).toFixed(1)),
      });
      written = 0;
      days = 0;
      steps.length = 0;
    }
  } finally {
    clearInterval(awake);
    await retention[Symbol.asyncDispose]();
    await opened.close();
    rmSync(folder, { recursive: true });
  }
  const scale = Math.round((100 * 86_400 * DAYS) / count);
  const about = `The database over a simulated year, with one in ${scale} of the commands of a service that gets a hundred a second. Old rows are removed daily: transactions after ${KEPT.transactions} days, deliveries after ${KEPT.deliveries}. One command in a hundred is never answered.`;
  return { name: 'A year', about, rows };
}
