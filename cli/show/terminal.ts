import { cut } from './text-width.ts';

/** A stream that a command writes to: standard output or standard error. */
export interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/** The surroundings of a command: environment, streams, the person, the time. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** The home folder of the person, for settings when the environment names no other folder. */
  home: string;
  stdin: NodeJS.ReadableStream;
  /** Standard output, for results only. */
  stdout: Stream;
  /** Standard error, for progress and errors. */
  stderr: Stream;
  /** Asks the person at the terminal; null when there is none. With `hidden` the answer is not shown. */
  ask: ((question: string, how: { hidden: boolean }) => Promise<string>) | null;
  /** Aborted when the person presses Ctrl-C (SIGINT). */
  interrupted: AbortSignal;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Resolves after some milliseconds, and keeps the process alive until then; rejects when `signal` is aborted. */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The last lines of a terminal, which change to show progress. Other streams never get these lines. */
export interface Screen {
  /** True when the stream is a terminal. */
  readonly live: boolean;
  /** Prints a permanent line. */
  line(text: string): void;
  /** Replaces the changing lines; an empty list removes them. */
  show(lines: readonly string[]): void;
}

const ESC = '\u001b[';

export function createScreen(stream: Stream): Screen {
  const live = stream.isTTY === true;
  let shown: string[] = [];
  const erase = (): string => (shown.length === 0 ? '' : `${ESC}${shown.length}A\r${ESC}J`);
  // Lines are cut to the width of the terminal, because a wrapped line takes two rows, and `erase` counts one row for
  // each line.
  const fit = (line: string): string => cut(line, (stream.columns ?? 80) - 1);

  return {
    live,
    line(text) {
      stream.write(`${erase()}${text}\n${shown.map((line) => `${line}\n`).join('')}`);
    },
    show(lines) {
      if (!live) return;
      const room = Math.max(1, (stream.rows ?? 24) - 2);
      const fitting = lines.slice(0, lines.length > room ? room - 1 : room).map(fit);
      if (lines.length > room) fitting.push(`... and ${lines.length - room + 1} more`);
      const before = erase();
      shown = fitting;
      stream.write(`${before}${shown.map((line) => `${line}\n`).join('')}`);
    },
  };
}
