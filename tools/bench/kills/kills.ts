import { setTimeout as pause } from 'node:timers/promises';
import type { Told, TransactionId } from '../closed-loop.ts';
import { medianOf } from '../measure.ts';
import type { Row } from '../report.ts';
import type { KillableTarget, Part } from '../running-target.ts';
import { type Books, createBooks } from './books.ts';
import { startCallers } from './callers.ts';
import { keepDevices } from './kept-devices.ts';

const CALLERS = 8;
/** A kill comes at a random time within so long after the loop has closed again. */
const AT_RANDOM_MS = 100;
/** When no loop closes within this time after a start, the part is not killed again. */
const RECOVERY_MS = 30_000;
/** After the last kill everything that is still open must be told within this time. */
const END_MS = 60_000;
const LOOK_MS = 10;

async function until(isSo: () => boolean, milliseconds: number): Promise<boolean> {
  const end = performance.now() + milliseconds;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await pause(LOOK_MS);
  }
  return true;
}

type Run = Books & {
  /** Forgets the loops that have closed so far, and does not count those that have begun. */
  begin(): void;
  /** The loops that have begun and closed since then. */
  closed(): number;
};

function createRun(): Run {
  const books = createBooks();
  const beganIn = new Map<TransactionId, number>();
  let turn = 0;
  let closed = 0;
  return {
    ...books,
    begin() {
      turn += 1;
      closed = 0;
    },
    closed: () => closed,
    accepted(id) {
      beganIn.set(id, turn);
      books.accepted(id);
    },
    async untilTold(id, milliseconds) {
      const isTold = await books.untilTold(id, milliseconds);
      if (isTold && beganIn.get(id) === turn) closed += 1;
      return isTold;
    },
  };
}

/**
 * Kills a part so often, each time under load; returns the milliseconds from each kill to the next loop that closed. It ends
 * early when no loop closes any more.
 */
async function killPart(part: Part, kills: number, run: Run): Promise<number[]> {
  const recoveries: number[] = [];
  const closes = (): Promise<boolean> => {
    run.begin();
    return until(() => run.closed() > 0, RECOVERY_MS);
  };
  let isWell = await closes();
  for (let kill = 0; kill < kills && isWell; kill += 1) {
    await pause(Math.random() * AT_RANDOM_MS);
    const began = performance.now();
    await part.kill();
    await part.start();
    isWell = await closes();
    recoveries.push(isWell ? performance.now() - began : Number.POSITIVE_INFINITY);
  }
  return recoveries;
}

/** Kills each part of a target so often, one part after the other; returns a row for each part. */
export async function runKills(
  name: string,
  start: (onTold: (told: Told) => void) => Promise<KillableTarget>,
  kills: number,
): Promise<Row[]> {
  let run = createRun();
  const target = await start((webhook) => run.told(webhook));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => target.close());
  stack.use(
    await keepDevices({
      port: target.mqttPort,
      deviceIds: target.deviceIds,
      credentialOf: target.credentialOf,
      answer: (_deviceId, _operation, transactionId) => {
        const status = run.carriedOut(transactionId);
        return status === 'failed' ? { status, error: { code: 'NO_SPACE', message: 'the disk is full' } } : { status };
      },
    }),
  );
  const rows: Row[] = [];
  for (const [part, killed] of Object.entries(target.parts)) {
    run = createRun();
    const callers = startCallers(target, run, CALLERS);
    let recoveries: number[];
    try {
      recoveries = await killPart(killed, kills, run);
    } finally {
      await callers[Symbol.asyncDispose]();
    }
    await until(() => run.open() === 0, END_MS);
    const { accepted, lost, doubled, wrong, repeated } = run.tally();
    rows.push({
      killed: `${name}: ${part}`,
      kills: recoveries.length,
      commands: accepted,
      lost,
      doubled,
      'told wrongly': wrong,
      'got again by the device': repeated,
      'ms until a loop closed, median': Math.round(medianOf(recoveries, (each) => each)),
      longest: Math.round(Math.max(...recoveries)),
    });
  }
  return rows;
}
