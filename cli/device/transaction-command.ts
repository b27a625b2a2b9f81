import type { LapelClient } from '@lapel/client/lapel-client';
import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import { type Given, readSeconds } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import { type Argument, DEVICE, type Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import type { Text } from '../show/look.ts';
import { createScreen, type Terminal } from '../show/terminal.ts';
import { type Followed, followTransactions, isFinished, stateText } from './follow-transactions.ts';
import { EXPIRY_OPTIONS, readTerms, TERMS_OPTIONS, type Terms } from './terms-options.ts';

export type TransactionRecord = Operations['readTransaction']['answer'];
type Ordered = (lapel: LapelClient, query: Terms) => Promise<{ transactionId: number }>;

/** An operation of a device as a command: it creates a transaction and may wait for its end. */
export interface TransactionRow {
  /** The words after `lapel device`, such as `wifi`. */
  name: string;
  summary: string;
  about?: string;
  arguments?: readonly Argument[];
  options?: Options;
  /** True: older commands of the same kind stay, because there can be no others. */
  supersedesNone?: true;
  examples: readonly string[];
  /** Reads the command line. Throws a UsageError before anything is sent. */
  prepare(
    given: Given,
    device: { deviceId: string; rest: readonly string[] },
    terminal: Terminal,
  ): Ordered | Promise<Ordered>;
  /** Shows the result of the device for people. */
  show?: (result: Record<string, unknown>) => Text;
}

const WAIT_OPTIONS = {
  wait: { text: 'wait for the end of the transaction (default on a terminal, but not in scripts)' },
  'no-wait': { text: 'only create the transaction, and print its transactionId' },
  timeout: { value: 'SECONDS', text: 'wait at most this many seconds; the transaction goes on' },
} satisfies Options;

/** Milliseconds to wait; null to wait until the end; undefined not to wait. */
function readWait(given: Given, { stderr }: Terminal): number | null | undefined {
  const seconds = given.text('timeout');
  if (given.flag('no-wait')) {
    const other = given.flag('wait') ? '--wait' : seconds === undefined ? undefined : '--timeout';
    if (other !== undefined) throw new UsageError('--no-wait', `cannot be combined with ${other}`);
    return undefined;
  }
  if (seconds !== undefined) return 1000 * readSeconds('timeout', seconds);
  return given.flag('wait') || stderr.isTTY === true ? null : undefined;
}

/** The outcome of a transaction: exit code 1 when it was waited for and did not succeed. */
function outcomeOf(one: Followed, show: TransactionRow['show']): Outcome {
  const { deviceId, transactionId, status, record } = one;
  const json = { ok: status === 'succeeded', transactionId, ...record };
  if (status === 'succeeded') {
    const result = record?.result ?? null;
    const text: Text = result && show ? show(result) : `succeeded: transaction ${transactionId} of ${deviceId}\n`;
    return { json, text };
  }
  const hint = isFinished(one) ? '' : `; it goes on: lapel device transactions ${deviceId}`;
  return { json, text: '', problem: `transaction ${transactionId} of ${deviceId} ${stateText(one)}${hint}` };
}

/** Makes the command `lapel device NAME DEVICE ...` of an operation. */
export function transactionCommand(row: TransactionRow): Command {
  return {
    name: `device ${row.name}`,
    arguments: [DEVICE, ...(row.arguments ?? [])],
    summary: row.summary,
    ...(row.about !== undefined && { about: row.about }),
    options: {
      ...row.options,
      ...(row.supersedesNone ? EXPIRY_OPTIONS : TERMS_OPTIONS),
      ...WAIT_OPTIONS,
      ...APPLICATION_OPTIONS,
    },
    examples: row.examples,
    endsItself: true,
    async run(given, terminal) {
      const [deviceId = '', ...rest] = given.positionals;
      const timeout = readWait(given, terminal);
      const terms = readTerms(given);
      const order = await row.prepare(given, { deviceId, rest }, terminal);
      const application = await openApplication(given, terminal);
      const { transactionId } = await application.call(`send the command ${row.name} to ${deviceId}`, (lapel) =>
        order(lapel, terms),
      );
      if (timeout === undefined) {
        const text = `transaction ${transactionId} of ${deviceId}\n`;
        return { json: { ok: true, transactionId, deviceId }, text };
      }
      const screen = createScreen(terminal.stderr);
      screen.line(`transaction ${transactionId}`);
      const one: Followed = { deviceId, transactionId, status: 'queued', progress: null, error: null };
      await followTransactions([one], { application, screen, terminal, timeout });
      if (terminal.interrupted.aborted && !isFinished(one)) {
        throw new Interrupted(
          `Transaction ${transactionId} goes on without this command (${one.status}).`,
          `  lapel device transactions ${deviceId} ${transactionId}`,
          `  lapel device cancel ${deviceId} ${transactionId}`,
        );
      }
      return outcomeOf(one, row.show);
    },
  };
}
