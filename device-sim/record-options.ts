import { readListen } from './listen-address.ts';
import { type OptionName, type Options, optionNames } from './options.ts';
import type { RecordSettings } from './relay/run-record.ts';
import { UsageError } from './usage-error.ts';

const ALLOWED: readonly OptionName[] = ['help', 'json', 'wait', 'mqtt', 'ca', 'listen'];

/** Reads the options of `record`. Throws a UsageError that names the wrong one. */
export function readRecord(file: string, options: Options): RecordSettings {
  const misplaced = optionNames.find((option) => options.has(option) && !ALLOWED.includes(option));
  if (misplaced) throw new UsageError(`--${misplaced}`, 'is no option of "record"');
  const listen = options.text('listen');
  if (listen === undefined) throw new UsageError('--listen', 'is needed: where your devices connect');
  return {
    file,
    listen: readListen('listen', listen),
    mqtt: options.url('mqtt', 'mqtt://127.0.0.1:1883', ['mqtt:', 'mqtts:']),
    caFile: options.text('ca'),
    wait: 1000 * options.number('wait', 5, { min: 0, max: 3600 }),
    json: options.has('json'),
  };
}
