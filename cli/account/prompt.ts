import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Failure } from '../show/failure.ts';

/**
 * Asks on a terminal. The answer to a `hidden` question is not shown. Throws a Failure when the input ends without an
 * answer.
 */
export function createPrompt(
  { input, output }: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream },
  interrupt: () => void,
) {
  return async (question: string, { hidden }: { hidden: boolean }): Promise<string> => {
    output.write(question);
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const reader = createInterface({ input, output: hidden ? silent : output, terminal: true, historySize: 0 });
    reader.on('SIGINT', interrupt); // a terminal in raw mode sends no signal
    try {
      const [line] = (await Promise.race([
        once(reader, 'line'),
        once(reader, 'close').then(() => Promise.reject(new Failure('there was no answer'))),
      ])) as [string];
      return line.trim();
    } finally {
      reader.close();
      if (hidden) output.write('\n');
    }
  };
}
