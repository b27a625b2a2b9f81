/** One row of the table: something that was tried. */
interface Row {
  name: string;
  seconds: number;
  failure: string | undefined;
  note: string;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The table of what was tried. */
export function createAttempts() {
  const rows: Row[] = [];
  return {
    /** Tries something; a text that it returns is a note. A failure is shown and noted, and the next attempt goes on. */
    async attempt(name: string, work: () => Promise<unknown>): Promise<boolean> {
      const began = performance.now();
      let failure: string | undefined;
      let note = '';
      try {
        const result = await work();
        if (typeof result === 'string') note = result;
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
      const seconds = (performance.now() - began) / 1000;
      rows.push({ name, seconds, failure, note });
      print(`${failure === undefined ? 'ok    ' : 'NOT OK'}  ${name}`);
      if (failure !== undefined) print(failure.replaceAll(/^/gm, '        | '));
      return failure === undefined;
    },

    /** Prints the table; returns whether everything succeeded. */
    conclude(): boolean {
      const width = Math.max(...rows.map(({ name }) => name.length));
      print('');
      for (const { name, seconds, failure, note } of rows)
        print(
          `${failure === undefined ? 'ok    ' : 'NOT OK'}  ${name.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s  ${note}`,
        );
      return rows.every(({ failure }) => failure === undefined);
    },
  };
}

export type Attempts = ReturnType<typeof createAttempts>;
