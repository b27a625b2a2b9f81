import { styleText } from 'node:util';

/** The output of the timeline: a terminal gets colours (unless NO_COLOR is set), anything else plain text. */
export type Output = NodeJS.WriteStream;

type Colour = 'cyan' | 'green' | 'magenta' | 'yellow' | 'red' | 'bold' | 'dim';

interface Arrow {
  from: string;
  to: string;
  text: string;
  /** The transaction to which the line belongs. */
  transactionId?: number;
  good?: boolean;
}

export type Timeline = ReturnType<typeof createTimeline>;

const WIDTH = 8;
const COLOURS: Record<string, Colour> = { app: 'magenta', console: 'magenta', lapel: 'cyan' };

/**
 * Prints a line for each action, with the seconds since the start. The lines are in the order of cause and effect. A
 * device may get its command before the caller has the answer that names the transaction, so lines about a transaction
 * wait until `announce` has printed the request.
 */
export function createTimeline(output: Output) {
  const began = performance.now();
  const waiting = new Map<number, string[]>();
  const announced = new Set<number>();
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
    /** Prints any text. */
    print,
    heading: (text: string): void => print(`\n${paint('bold', text)}`),
    note: (text: string): void => print(`${' '.repeat(11)}${paint('dim', text)}`),
    /** Prints an action that happens now. */
    arrow(arrow: Arrow): void {
      const { transactionId } = arrow;
      if (!holding || transactionId === undefined || announced.has(transactionId)) print(line(arrow));
      else waiting.set(transactionId, [...(waiting.get(transactionId) ?? []), line(arrow)]);
    },
    /**
     * To be called before a request about a known transaction is sent: further lines about it wait until that request
     * is printed.
     */
    withhold: (transactionId: number): boolean => announced.delete(transactionId),
    /** Prints a request about a transaction that was sent at `at`, then the lines that waited for it. */
    announce(arrow: Arrow & { transactionId: number }, at: number): void {
      print(line(arrow, at));
      announced.add(arrow.transactionId);
      for (const text of waiting.get(arrow.transactionId) ?? []) print(text);
      waiting.delete(arrow.transactionId);
    },
    /** From now on no line waits, because requests may come from other programs, and these are not announced. */
    live(): void {
      holding = false;
    },
    /** Milliseconds since the start. */
    elapsed: (): number => performance.now() - began,
  };
}
