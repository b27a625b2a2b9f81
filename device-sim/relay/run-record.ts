import { once } from 'node:events';
import { plainText } from '../plain-text.ts';
import { createRecorder } from '../recording/recorder.ts';
import { reach } from '../scenario/reach.ts';
import { clock } from '../show.ts';
import { systemTimers } from '../timers.ts';
import { trust } from '../trust.ts';
import { type RelayCounts, startRelay } from './relay.ts';

export interface RecordSettings {
  readonly file: string;
  /** Where the devices connect. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The address of the service. */
  readonly mqtt: string;
  /** The certificate authorities to trust as well. */
  readonly caFile: string | undefined;
  /** Milliseconds to wait until the service answers. */
  readonly wait: number;
  readonly json: boolean;
}

/** The report of a record. */
export interface RecordReport extends RelayCounts {
  readonly file: string;
  readonly milliseconds: number;
  /** A sentence about the file: the number of its messages, and why it ends early if it does. */
  readonly note: string;
}

/** An IPv6 address is in brackets before a port. */
const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/**
 * Records the traffic between devices and a service until `stopped`. Rejects with a UsageError for a wrong option, and
 * with Unreachable. `say` writes a line for people.
 */
export async function runRecord(
  settings: RecordSettings,
  { stopped, say }: { stopped: AbortSignal; say: (line: string) => void },
): Promise<RecordReport> {
  const { file, listen, mqtt, caFile, wait } = settings;
  const timers = systemTimers;
  if (caFile !== undefined) trust(caFile);
  await reach([mqtt], { patience: wait, timers, stopped });
  const began = timers.now();
  const recorder = createRecorder({ file, run: 'record', timers, option: 'record' });
  let note = '';
  let counts: RelayCounts;
  try {
    await using relay = await startRelay({
      listen,
      serviceUrl: mqtt,
      recorder,
      timers,
      onUnreachable(error) {
        if (relay.counts.unreachable === 1) say(plainText(`the service accepts no connection: ${error.message}`));
      },
    });
    counts = relay.counts;
    say(`address     ${bracketed(listen.host)}:${relay.port} (MQTT without TLS)`);
    say(`service     ${mqtt}`);
    say('Let the devices connect to this address. Ctrl-C ends the record.');
    if (!stopped.aborted) await once(stopped, 'abort');
  } finally {
    note = recorder.close();
  }
  return { ...counts, file, milliseconds: Math.round(timers.now() - began), note };
}

/** The result of a record, for people. */
export function recordText(report: RecordReport): string {
  const { file, milliseconds, devices, connections, unread, refused, unreachable, sent, received, note } = report;
  return [
    `${plainText(file)}: ${devices} devices, ${clock(milliseconds)}`,
    '',
    `  Connections  ${connections} recorded; ${unread} passed on unread, ${refused} too many, ${unreachable} without the service`,
    `  Messages     ${sent} of devices, ${received} of the service`,
    `  File         ${plainText(note)}`,
    '',
  ].join('\n');
}
