import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeviceMemory, Remembered } from './device-model.ts';
import type { DeviceState } from './device-state.ts';

/** Stores the memory of a device over restarts of the simulator. */
export interface Journal {
  /** The stored memory, or undefined for a new device. */
  readonly memory: DeviceMemory | undefined;
  /** Called after each execution, before its answer is sent; without an answer when the device tries networks. */
  record(remembered: Remembered | undefined, state: Readonly<DeviceState>): void;
}

interface Line extends Partial<Remembered> {
  state: DeviceState;
}

/** The complete lines of a journal. A last line that was cut off when the process was killed is ignored. */
function readLines(file: string): Line[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/**
 * One append-only file for each device, `FOLDER/{deviceId}.ndjson`, with a line for each execution. It survives a
 * killed process but not a power cut, which is enough for a simulator. It is rewritten at start, with the answers that
 * are still to be remembered.
 */
export function createStateFile({
  folder,
  deviceId,
  bound,
}: {
  folder: string;
  deviceId: string;
  bound: number;
}): Journal {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${deviceId}.ndjson`);
  const lines = readLines(file).slice(-bound);
  const last = lines.at(-1);
  writeFileSync(`${file}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  renameSync(`${file}.new`, file);
  return {
    memory: last && {
      state: last.state,
      answers: lines.flatMap(({ answer, issuedAt }) => (answer ? [{ answer, issuedAt }] : [])),
    },
    record: (remembered, state) => appendFileSync(file, `${JSON.stringify({ ...remembered, state })}\n`),
  };
}
