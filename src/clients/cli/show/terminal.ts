import { cut } from './text-width.ts';

/** One of the two streams that a command writes to. */
export interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/** All that a command has of its surroundings. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** The folder of the person, where settings are when the environment does not say. */
  home: string;
  stdin: NodeJS.ReadableStream;
  /** Results, and nothing else. */
  stdout: Stream;
  /** What is going on, and errors. */
  stderr: Stream;
  /** Asks the person, when there is one: what is typed is not shown when it is `hidden`. */
  ask: ((question: string, how: { hidden: boolean }) => Promise<string>) | null;
  /** Aborted by SIGINT. */
  interrupted: AbortSignal;
  /** Milliseconds of any clock that only goes forward. */
  now(): number;
  /** Resolves after some milliseconds, and keeps the process alive until then; rejects when `signal` is aborted. */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The last lines of a terminal, which change: progress. A stream that is no terminal never gets them. */
export interface Screen {
  /** Whether somebody watches. */
  readonly live: boolean;
  /** A line that stays. */
  line(text: string): void;
  /** Replaces the lines that change; none removes them. */
  show(lines: readonly string[]): void;
}

const ESC = '\u001b[';

export function createScreen(stream: Stream): Screen {
  const live = stream.isTTY === true;
  let shown: string[] = [];
  const erase = (): string => (shown.length === 0 ? '' : `${ESC}${shown.length}A\r${ESC}J`);
  // A line that wraps would make two, and the next one would erase the wrong lines.
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
