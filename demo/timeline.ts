import { styleText } from 'node:util';

/** Where the timeline goes: a terminal gets colours (unless NO_COLOR says otherwise), anything else plain text. */
export type Output = NodeJS.WriteStream;

type Colour = 'cyan' | 'green' | 'magenta' | 'yellow' | 'red' | 'bold' | 'dim';

interface Arrow {
  from: string;
  to: string;
  text: string;
  /** Whose story it belongs to. */
  transactionId?: number;
  good?: boolean;
}

export type Timeline = ReturnType<typeof createTimeline>;

const WIDTH = 8;
const COLOURS: Record<string, Colour> = { app: 'magenta', console: 'magenta', lapel: 'cyan' };

/**
 * One line for each thing that somebody did, with the seconds since the start. A request and what follows from it are
 * told in the order of cause and effect: a device may have its command before the caller has the answer that names the
 * transaction, so lines about a transaction wait until `announce` has told of it.
 */
export function createTimeline(output: Output) {
  const began = performance.now();
  const untold = new Map<number, string[]>();
  const told = new Set<number>();
  let holding = true;

  const paint = (colour: Colour, text: string): string => styleText(colour, text, { stream: output });
  const print = (text: string): void => {
    output.write(`${text}\n`);
  };
  const name = (who: string): string => paint(COLOURS[who] ?? 'yellow', who.padEnd(WIDTH));

  function line({ from, to, text, transactionId, good = true }: Arrow, at = performance.now()): string {
    const seconds = paint('dim', `${((at - began) / 1000).toFixed(3).padStart(7)} s`);
    const story = transactionId === undefined ? '' : `${paint('dim', `#${transactionId}`.padEnd(4))} `;
    const what = good ? text : paint('red', text);
    return `${seconds}  ${name(from)} ${paint('dim', '->')} ${name(to)}  ${story}${what}`;
  }

  return {
    paint,
    /** Any text, as it is. */
    print,
    heading: (text: string): void => print(`\n${paint('bold', text)}`),
    note: (text: string): void => print(`${' '.repeat(11)}${paint('dim', text)}`),
    /** A thing that happened now. */
    arrow(arrow: Arrow): void {
      const { transactionId } = arrow;
      if (!holding || transactionId === undefined || told.has(transactionId)) print(line(arrow));
      else untold.set(transactionId, [...(untold.get(transactionId) ?? []), line(arrow)]);
    },
    /** Lines about a transaction wait until the request that is about to go out has been announced. */
    withhold: (transactionId: number): boolean => told.delete(transactionId),
    /** A request about a transaction, sent at `at`; then what has happened about it meanwhile. */
    announce(arrow: Arrow & { transactionId: number }, at: number): void {
      print(line(arrow, at));
      told.add(arrow.transactionId);
      for (const text of untold.get(arrow.transactionId) ?? []) print(text);
      untold.delete(arrow.transactionId);
    },
    /** From here on nothing waits: others make requests too. */
    live(): void {
      holding = false;
    },
    /** Milliseconds since the start. */
    elapsed: (): number => performance.now() - began,
  };
}
