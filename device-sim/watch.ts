import { liveLine, liveLines, type Standing } from './report/live.ts';
import type { Timers } from './timers.ts';

/** The output that shows a run: a terminal gets changing lines, anything else a line every few seconds. */
export interface LiveStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const ON_TERMINAL_MILLISECONDS = 500;
const ELSEWHERE_MILLISECONDS = 5000;
const HOME = '\r';
const CLEAR_BELOW = '\u001b[J';
const up = (lines: number): string => (lines > 0 ? `\u001b[${lines}A` : '');

/** Shows the state of a run until the returned function is called. */
export function watch({
  standing,
  stream,
  timers,
}: {
  standing: () => Standing;
  stream: LiveStream;
  timers: Timers;
}): () => void {
  const terminal = stream.isTTY === true;
  const every = terminal ? ON_TERMINAL_MILLISECONDS : ELSEWHERE_MILLISECONDS;
  let drawn = 0;
  let cancel = (): void => {};

  /**
   * Cuts a line to the width of the terminal, because a wrapped line would take two, and the next picture would begin
   * too low.
   */
  const fitting = (line: string): string => {
    const width = Math.max(20, (stream.columns ?? 80) - 1);
    return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
  };

  function tick(): void {
    if (terminal) {
      const lines = liveLines(standing()).map(fitting);
      stream.write(`${HOME}${up(drawn)}${CLEAR_BELOW}${lines.join('\n')}\n`);
      drawn = lines.length;
    } else {
      stream.write(`${liveLine(standing())}\n`);
    }
    cancel = timers.after(every, tick);
  }

  tick();
  return () => {
    cancel();
    if (terminal) stream.write(`${HOME}${up(drawn)}${CLEAR_BELOW}`);
  };
}
