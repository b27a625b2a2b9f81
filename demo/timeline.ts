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
 * Prints a line for each action, with the seconds since the start. Lines are in the order of cause and effect: since a device
 * may get its command before the caller gets the answer that names the transaction, lines about a transaction wait until
 * `announce` has printed its request.
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
    /** Lets lines about a transaction wait until its next request, which is about to be sent, was announced. */
    withhold: (transactionId: number): boolean => announced.delete(transactionId),
    /** Prints a request about a transaction that was sent at `at`, then the lines that waited for it. */
    announce(arrow: Arrow & { transactionId: number }, at: number): void {
      print(line(arrow, at));
      announced.add(arrow.transactionId);
      for (const text of waiting.get(arrow.transactionId) ?? []) print(text);
      waiting.delete(arrow.transactionId);
    },
    /** Lets no line wait any more, because requests may now come from elsewhere. */
    live(): void {
      holding = false;
    },
    /** Milliseconds since the start. */
    elapsed: (): number => performance.now() - began,
  };
}
