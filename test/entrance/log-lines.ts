import { Writable } from 'node:stream';
import { createLog } from '../../src/runtime/log.ts';

/** A log whose lines can be read. */
export function keptLog(level = 'info') {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      for (const line of chunk.toString().trim().split('\n')) lines.push(JSON.parse(line) as Record<string, unknown>);
      done();
    },
  });
  return { log: createLog({ level, destination }), lines };
}
