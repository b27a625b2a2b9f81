import type { Fleet, FleetCounts } from './fleet/fleet.ts';
import type { Timers } from './timers.ts';

/** Where progress is written: a terminal gets one line that changes, anything else a line every few seconds. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const ON_TERMINAL_MILLISECONDS = 250;
const ELSEWHERE_MILLISECONDS = 5000;

/** One line about now: rates are since `before`, `milliseconds` ago. */
export function progressLine(now: FleetCounts, before: FleetCounts, milliseconds: number): string {
  const rate = (name: 'commands' | 'answers' | 'failures'): string =>
    `${Math.round(((now[name] - before[name]) * 1000) / Math.max(1, milliseconds))} ${name}/s`;
  const life = now.calls + now.uploads > 0 ? `, ${now.calls} calls, ${now.uploads} uploads` : '';
  return `${now.connected} connected, ${now.devices - now.connected} offline, ${rate('commands')}, ${rate('answers')}, ${rate('failures')}, ${now.outstanding} outstanding${life}`;
}

/** Shows progress until the returned function is called. */
export function showProgress({
  fleet,
  stream,
  timers,
}: {
  fleet: Fleet;
  stream: ProgressStream;
  timers: Timers;
}): () => void {
  const terminal = stream.isTTY === true;
  const every = terminal ? ON_TERMINAL_MILLISECONDS : ELSEWHERE_MILLISECONDS;
  let before = fleet.counts();
  let at = timers.now();
  let cancel = timers.after(every, tick);

  function tick(): void {
    const counts = fleet.counts();
    const time = timers.now();
    const line = progressLine(counts, before, time - at);
    stream.write(terminal ? `\r\u001b[2K${line}` : `${line}\n`);
    before = counts;
    at = time;
    cancel = timers.after(every, tick);
  }

  return () => {
    cancel();
    if (terminal) stream.write('\r\u001b[2K');
  };
}
