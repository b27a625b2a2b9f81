import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isRecord } from '../mqtt/messages.ts';
import { UsageError } from '../usage-error.ts';
import type { RecordedTraffic, Saying, Script, Step } from './script.ts';

interface Writing extends Script {
  readonly steps: Step[];
  readonly answers: Map<string, Saying[][]>;
  /** The commands so far, and whether their final answer has come, by their transactionId. */
  readonly open: Map<unknown, { at: number; readonly said: Saying[]; isFinal: boolean }>;
}

const FINAL: readonly unknown[] = ['succeeded', 'failed'];

function command(script: Writing, at: number, { transactionId, operation }: Record<string, unknown>): void {
  if (typeof operation !== 'string' || operation === 'cancel') return;
  const known = script.open.get(transactionId);
  if (known) {
    // The service has repeated it. The time of the answer counts from here.
    if (known.said.length === 0) known.at = at;
    return;
  }
  const said: Saying[] = [];
  script.open.set(transactionId, { at, said, isFinal: false });
  const all = script.answers.get(operation);
  if (all) all.push(said);
  else script.answers.set(operation, [said]);
}

function answer(script: Writing, at: number, payload: Record<string, unknown>): void {
  const known = script.open.get(payload['transactionId']);
  if (!known || known.isFinal) return;
  known.isFinal = FINAL.includes(payload['status']);
  known.said.push({ after: at - known.at, payload });
}

/** Adds one line. Returns a sentence about its fault, if it has one. */
function add(scripts: Map<string, Writing>, line: Record<string, unknown>): string | undefined {
  const { at, device, kind, topic, payload, how } = line;
  if (typeof at !== 'number' || !(at >= 0)) return '"at" is not a number of milliseconds';
  if (typeof device !== 'string' || device === '') return '"device" is not a text';
  const script: Writing = scripts.get(device) ?? { steps: [], answers: new Map(), open: new Map() };
  scripts.set(device, script);
  if (kind === 'connected') script.steps.push({ at, do: 'connect' });
  else if (kind === 'disconnected') {
    if (how !== 'politely' && how !== 'cut' && how !== 'lost') return '"how" is none of politely, cut, lost';
    script.steps.push({ at, do: 'disconnect', how });
  } else if (kind === 'received' || kind === 'sent') {
    if (!isRecord(payload)) return undefined;
    if (kind === 'received' && topic === 'commands') command(script, at, payload);
    if (kind === 'sent' && topic === 'acks') answer(script, at, payload);
    if (kind === 'sent' && (topic === 'events' || topic === 'status'))
      script.steps.push({ at, do: 'publish', topic, payload });
  } else return '"kind" is none of connected, disconnected, sent, received, full';
  return undefined;
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Reads a record. Rejects with a UsageError that names the line. */
export async function readTraffic(file: string): Promise<RecordedTraffic> {
  const scripts = new Map<string, Writing>();
  let startedAt: number | undefined;
  let isFull = false;
  let number = 0;
  const refuse = (fault: string): never => {
    throw new UsageError('replay', `line ${number} of ${file}: ${fault}`);
  };
  try {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      const line = objectOf(text);
      if (startedAt === undefined) {
        startedAt = Date.parse(String(line['startedAt']));
        if (line['record'] !== 'device traffic' || line['version'] !== 1 || Number.isNaN(startedAt))
          refuse('this is no record that --record has written');
        continue;
      }
      if (line['kind'] === 'full') isFull = true;
      else {
        const fault = add(scripts, line);
        if (fault !== undefined) refuse(fault);
      }
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError('replay', `cannot read ${file}: ${(error as Error).message}`);
  }
  if (scripts.size === 0) throw new UsageError('replay', `${file} has no devices`);
  return { startedAt: startedAt ?? 0, scripts: [...scripts.values()], isFull };
}
