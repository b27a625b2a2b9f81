import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ADMIN_OPTIONS, openAdministration } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import type { Given } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { oneLine } from '../show/plain-text.ts';
import { bar, count, duration } from '../show/progress.ts';
import { createScreen, type Screen, type Terminal } from '../show/terminal.ts';
import type { Counts, Fault } from './import-devices.ts';
import { openImportOutput } from './import-output.ts';

const TYPES: Readonly<Record<string, string>> = { ndjson: 'application/x-ndjson', csv: 'text/csv' };
const OPTIONS = {
  developer: { value: 'ID', text: 'the developer of the devices' },
  output: {
    value: 'FILE',
    file: true,
    text: 'file for the credentials (mode 0600); an interrupted import continues from it',
  },
  format: {
    value: 'F',
    choices: Object.keys(TYPES),
    text: 'format of FILE; by default chosen by the ending of its name',
  },
  ...ADMIN_OPTIONS,
} satisfies Options;
const FAULTS_IN_JSON = 100;
const EXISTS = 'device already exists.';
const EXISTS_ADVICE =
  'existing devices keep their credential; name the --output of an earlier import to skip its devices';
const REDRAW_MILLISECONDS = 100;
const PLAIN_MILLISECONDS = 5000;

function formatOf(path: string, given: Given): string {
  const named = given.text('format');
  if (named !== undefined) return named;
  const ending = path.split('.').at(-1)?.toLowerCase() ?? '';
  if (ending === 'csv') return 'csv';
  if (ending === 'ndjson' || ending === 'jsonl') return 'ndjson';
  throw new UsageError('--format', `is needed: the name ${path} does not end in .ndjson, .jsonl or .csv`);
}

/** Opens the input; also gives its size and the number of bytes read. */
async function openInput(path: string, { stdin }: Terminal) {
  if (path === '-') return { body: stdin as Readable, size: null, bytesRead: () => 0 };
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new Error('is not a file');
    const body = createReadStream(path);
    return { body, size: stats.isFile() ? stats.size : null, bytesRead: () => body.bytesRead };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(path, code === 'ENOENT' ? 'there is no such file' : message);
  }
}

/** Shows the progress: a changing line on a terminal, otherwise a line now and then. */
function createMeter(screen: Screen, { now }: Terminal, share: () => number | null) {
  const began = now();
  let drawn = began;
  return {
    show({ lines, skipped, refused }: Counts): void {
      const elapsed = now() - began;
      if (now() - drawn < (screen.live ? REDRAW_MILLISECONDS : PLAIN_MILLISECONDS)) return;
      drawn = now();
      const rate = Math.round((1000 * (lines - skipped)) / elapsed);
      const part = share();
      const parts = [`${count(lines)} lines`, `${count(rate)}/s`];
      if (part !== null && part > 0) parts.push(`${duration((elapsed * (1 - part)) / part)} left`);
      if (refused > 0) parts.push(`${count(refused)} failed`);
      const text = parts.join(', ');
      if (!screen.live) screen.line(part === null ? text : `${Math.floor(100 * part)} %: ${text}`);
      else screen.show([part === null ? `importing  ${text}` : `importing  ${bar(100 * part)}  ${text}`]);
    },
    seconds: () => (now() - began) / 1000,
  };
}

/**
 * The lines of a failure, one for each fault: `devices.csv:17: deviceId: String should match ...
 * (string_pattern_mismatch)`.
 */
function faultLines(name: string, { line, deviceId, error }: Fault): string[] {
  const place = `${name}:${line}`;
  const details = error.details ?? [];
  if (details.length === 0) return [`${place}: ${deviceId ?? 'line'}: ${error.reason ?? error.message ?? 'refused'}`];
  return details.map(({ loc, msg, type }) => `${place}: ${loc.slice(1).join('.') || 'line'}: ${msg} (${type})`);
}

export const adminDeviceImport: Command = {
  name: 'admin device import',
  arguments: [{ name: 'FILE', file: true }],
  summary: 'Registers many devices of a developer from an NDJSON or CSV file',
  about: `Each line is a device. NDJSON: {"deviceId": "490154203237518", "hardwareProperties": {...}, "credential": "..."}; CSV names
its fields in the first line: deviceId,hardwareProperties.model.name,hardwareProperties.macAddressWifi,... Only deviceId is
required. FILE may be - for standard input. The command generates the credentials (MQTT passwords), 256 random bits each, and
writes them to the output before it sends them; a finished output has a line {"deviceId", "credential"} for each registered device.

A faulty line does not affect others: it is reported with its number, and the exit code is 1. After an interruption of any kind
(Ctrl-C, the connection, the machine) run the same command again. It skips finished lines, and sends lines without an answer
again with the same credential. It also sends lines that failed and were corrected, and lines that are new in the file.`,
  options: OPTIONS,
  examples: [
    'lapel admin device import devices.csv --developer acme --output credentials.ndjson',
    'export-devices | lapel admin device import - --format ndjson --developer acme --output credentials.ndjson',
  ],
  endsItself: true,
  async run(given, terminal) {
    const [path = ''] = given.positionals;
    const developerId = given.text('developer');
    if (developerId === undefined) throw new UsageError('--developer', 'is needed');
    const outputPath = given.text('output');
    if (outputPath === undefined) {
      throw new UsageError('--output', 'is needed for the credentials, which are shown nowhere else');
    }
    const type = TYPES[formatOf(path, given)];
    // Loaded only here, because the other commands need neither a reader of CSV nor the long request.
    const { readerOf } = await import('@lapel/schemas/imports/import-lines');
    const { importDevices } = await import('./import-devices.ts');
    const read = readerOf(type)!;
    const administration = await openAdministration(given, terminal);
    const input = await openInput(path, terminal);
    const output = await openImportOutput(outputPath, developerId);
    const screen = createScreen(terminal.stderr);
    if (output.registeredBefore > 0)
      screen.line(`continuing: ${outputPath} has ${count(output.registeredBefore)} registered devices`);
    const { size } = input;
    const meter = createMeter(screen, terminal, () => (size ? input.bytesRead() / size : null));
    const name = path === '-' ? 'standard input' : path;
    const errors: Fault[] = [];
    let known = 0;
    let counts: Counts;
    try {
      counts = await importDevices({
        administration,
        developerId,
        lines: read(input.body),
        output,
        terminal,
        screen,
        onProgress: meter.show,
        onFault(fault) {
          if (fault.error.message === EXISTS) known += 1;
          if (errors.length < FAULTS_IN_JSON) errors.push(fault);
          for (const line of faultLines(name, fault)) screen.line(oneLine(line));
        },
      });
    } catch (error) {
      await output.flush().catch(() => undefined); // a failed write of the output was already reported
      await output.close();
      screen.line(`stopped; run the same command again to continue: ${outputPath} has the finished devices`);
      throw error;
    } finally {
      screen.show([]);
      input.body.destroy();
    }
    const { lines, registered, skipped, refused } = counts;
    const summary = `${count(registered)} registered, ${count(skipped)} skipped, ${count(refused)} failed`;
    if (terminal.interrupted.aborted) {
      await output.close();
      throw new Interrupted(
        `Stopped: ${summary}.`,
        `Run the same command again to continue; the finished devices are in ${outputPath}.`,
      );
    }
    await output.finish();
    const seconds = meter.seconds();
    const advice = known > 0 ? `\n  ${EXISTS_ADVICE}` : '';
    return {
      json: { ok: refused === 0, lines, registered, skipped, failed: refused, output: outputPath, seconds, errors },
      text: `${count(lines)} lines in ${duration(1000 * seconds)}: ${summary}. Credentials: ${outputPath}\n`,
      ...(refused > 0 && {
        problem: `${count(refused)} of ${count(lines)} lines failed; correct them and run the command again${advice}`,
      }),
    };
  },
};
