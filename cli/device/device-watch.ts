import type { LapelClient } from '@lapel/client/lapel-client';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { readSeconds } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import { DEVICE, type Options } from '../line/options.ts';
import { Failure } from '../show/failure.ts';
import { createTeller, type Teller } from '../show/json-lines.ts';
import { colourOf } from '../show/look.ts';
import { oneLine } from '../show/plain-text.ts';
import { transactionDetail } from './device-reads.ts';
import { batteryText, networkText, type Status } from './device-texts.ts';
import { isFinished } from './follow-transactions.ts';
import type { TransactionRecord } from './transaction-command.ts';

const OPTIONS = {
  interval: { value: 'SECONDS', text: 'seconds between two requests (1)' },
  timeout: { value: 'SECONDS', text: 'stop after this many seconds with exit code 0 (by default Ctrl-C stops it)' },
  ...APPLICATION_OPTIONS,
} satisfies Options;
// The number of newest transactions that one request reads as a list; older ones that are not finished are read one by
// one.
const NEWEST = 50;
const FAILURES_IN_A_ROW = 30;

/** The parts of a status whose changes are shown, one line each. */
const FACTS: Readonly<Record<string, (status: Status) => string | null>> = {
  connected: ({ connected }) => (connected ? 'connected' : 'disconnected'),
  firmware: ({ firmwareVersion }) => firmwareVersion,
  language: ({ lang }) => lang,
  battery: (status) => batteryText(status) || null,
  network: (status) => networkText(status) || null,
  bluetooth: ({ bluetooth }) => bluetooth && (bluetooth.enabled ? 'on' : 'off'),
  software: ({ software }) => software?.map((one) => `${one.package} ${one.version}`).join(', ') || null,
};

interface Seen {
  facts: Map<string, string>;
  transactions: Map<number, string>;
  open: Set<number>;
}

function tellStatus(status: Status, seen: Seen, { tell }: Teller): void {
  for (const [fact, read] of Object.entries(FACTS)) {
    const value = read(status);
    if (value === null || seen.facts.get(fact) === value) continue;
    seen.facts.set(fact, value);
    const event = { type: 'status', deviceId: status.deviceId, fact, value, status };
    tell(
      event,
      ({ paint }) => `${paint('dim', 'device')}  ${fact === 'connected' ? '' : `${fact}: `}${oneLine(value)}\n`,
    );
  }
}

function tellTransaction(record: TransactionRecord, seen: Seen, { tell }: Teller): void {
  const { transactionId, operation, status, progress, attempts } = record;
  const state = [status, status === 'processing' ? progress : '', attempts].join(' ');
  if (isFinished(record)) seen.open.delete(transactionId);
  else seen.open.add(transactionId);
  if (seen.transactions.get(transactionId) === state) return;
  seen.transactions.set(transactionId, state);
  const detail = transactionDetail(record);
  const tries = attempts > 1 ? ` (attempt ${attempts})` : '';
  tell(
    { type: 'transaction', ...record },
    ({ paint }) =>
      `${paint('dim', `#${transactionId}`)}  ${operation}  ${paint(colourOf(status), status)}${tries}  ${oneLine(detail)}`.trimEnd() +
      '\n',
  );
}

async function look(lapel: LapelClient, deviceId: string, seen: Seen, signal: AbortSignal) {
  const [status, { transactions }] = await Promise.all([
    lapel.readStatus({ deviceId, signal }),
    lapel.listTransactions({ deviceId, query: { limit: NEWEST }, signal }),
  ]);
  const listed = new Set(transactions.map(({ transactionId }) => transactionId));
  const older = [...seen.open].filter((transactionId) => !listed.has(transactionId));
  const records = await Promise.all(
    older.map((transactionId) => lapel.readTransaction({ deviceId, transactionId, signal })),
  );
  return { status, records: [...records, ...transactions.toReversed()] };
}

export const deviceWatch: Command = {
  name: 'device watch',
  arguments: [DEVICE],
  summary: 'Follows the state and the transactions of a device until Ctrl-C',
  about: `Shows the status and the unfinished transactions of the device, then each change. --json prints one object per line, of
type "status" or "transaction". The command only reads, by repeated requests.`,
  options: OPTIONS,
  examples: [
    'lapel device watch 490154203237518',
    'lapel device watch 490154203237518 --json --timeout 60 | jq -c .status',
  ],
  endsItself: true,
  async run(given, terminal) {
    const [deviceId = ''] = given.positionals;
    const interval = 1000 * readSeconds('interval', given.text('interval') ?? '1');
    const limit = given.text('timeout');
    const until = limit === undefined ? null : terminal.now() + 1000 * readSeconds('timeout', limit);
    const application = await openApplication(given, terminal);
    const teller = createTeller(given.flag('json'), terminal);
    const { interrupted } = terminal;
    const seen: Seen = { facts: new Map(), transactions: new Map(), open: new Set() };
    let failures = 0;
    let isFirst = true;
    while (!interrupted.aborted) {
      try {
        const { status, records } = await application.call(`watch ${deviceId}`, (lapel) =>
          look(lapel, deviceId, seen, interrupted),
        );
        tellStatus(status, seen, teller);
        for (const record of records) {
          if (isFirst && isFinished(record)) seen.transactions.set(record.transactionId, stateOfPast(record));
          else tellTransaction(record, seen, teller);
        }
        if (isFirst && teller.screen.live) teller.screen.show([`watching ${deviceId}: Ctrl-C ends it`]);
        isFirst = false;
        failures = 0;
      } catch (error) {
        if (interrupted.aborted) break;
        failures += 1;
        if (!(error instanceof Failure) || !error.passing || failures === FAILURES_IN_A_ROW) throw error;
        if (failures === 1) teller.screen.line(oneLine(`${error.message}; trying again`));
      }
      if (until !== null && terminal.now() >= until) {
        teller.screen.show([]);
        return { json: undefined, text: '' };
      }
      await terminal.pause(interval, interrupted).catch(() => undefined);
    }
    teller.screen.show([]);
    throw new Interrupted();
  },
};

const stateOfPast = ({ status, attempts }: TransactionRecord): string => [status, '', attempts].join(' ');
