import { PUBLIC } from './operations.ts';
import { ROOT } from './place.ts';

/** Parses the text of `/metrics`. The key of a value is its name with its labels, as written there. */
function readText(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const found = /^([a-z_:][^\s]*) ([-+0-9.e]+|NaN)$/i.exec(line);
    if (found) values.set(found[1]!, Number(found[2]));
  }
  return values;
}

/** Loads the metrics of the node that serves the console. */
export async function readMetrics(signal: AbortSignal): Promise<Map<string, number>> {
  const response = await fetch(ROOT + PUBLIC.readMetrics.path, { signal, cache: 'no-store' });
  return readText(await response.text());
}
