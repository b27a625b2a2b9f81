import type { EventEmitter } from 'node:events';
import type { FleetEvents } from './fleet-events.ts';

/** Nothing yet. */
const NOTHING = {
  connections: 0,
  /** Connections that ended unwanted. */
  losses: 0,
  /** Attempts to connect that were given up. */
  connectFailures: 0,
  /** Deliveries of commands, repetitions and cancels included. */
  commands: 0,
  /** Deliveries of commands that were known already. */
  repetitions: 0,
  cancels: 0,
  /** Deliveries that a firmware left unanswered. */
  ignored: 0,
  /** Answers to commands executed, and again to repeated ones. */
  answers: 0,
  repeatedAnswers: 0,
  /** Executions that failed. */
  failures: 0,
  /** Answers that the service acknowledged. */
  acknowledged: 0,
  /** Downloads that came to an end, good or bad, and their bytes. */
  downloads: 0,
  downloadedBytes: 0,
  /** How often one went on where it was cut. */
  resumed: 0,
  /** How often a fresh URL was asked for. */
  renewed: 0,
  /** Events that the service acknowledged; events that a device had no room for while nobody took them. */
  events: 0,
  eventsLost: 0,
  /** Calls that began. */
  calls: 0,
  /** Files that are where the customer wanted them, and their bytes. */
  uploads: 0,
  uploadedBytes: 0,
  /** How often an upload, or its URL, was tried once more. */
  uploadRetries: 0,
  /** Recordings and customer files that were given up. */
  uploadFailures: 0,
  /** Recordings and customer files that nobody wanted: the application has no place for them. */
  unwanted: 0,
  /** Messages on the errors topics. */
  complaints: 0,
  /** Breaches of the contract by the service. */
  violations: 0,
};

/** What a fleet went through; it only grows. */
export type Tally = typeof NOTHING;

/** Counts what the devices of a fleet tell of themselves, and says what is wrong, in words. */
export function createTally({
  events,
  onTrouble,
}: {
  events: EventEmitter<FleetEvents>;
  onTrouble: (deviceId: string, text: string) => void;
}): Tally {
  const counts: Tally = { ...NOTHING };
  events.on('online', () => {
    counts.connections += 1;
  });
  events.on('offline', (_device, _reason, expected) => {
    if (!expected) counts.losses += 1;
  });
  events.on('refused', ({ deviceId }, error) => {
    counts.connectFailures += 1;
    onTrouble(deviceId, `refused: ${error.message}`);
  });
  events.on('command', (_device, _command, reaction) => {
    counts.commands += 1;
    if (reaction === 'repeat' || reaction === 'underway') counts.repetitions += 1;
    else if (reaction === 'cancel') counts.cancels += 1;
    else if (reaction === 'ignored') counts.ignored += 1;
  });
  events.on('answer', (_device, { status }, repeated) => {
    counts.answers += 1;
    if (repeated) counts.repeatedAnswers += 1;
    else if (status === 'failed') counts.failures += 1;
  });
  events.on('acknowledged', () => {
    counts.acknowledged += 1;
  });
  events.on('download', (_device, { bytes, resumed, renewed }) => {
    counts.downloads += 1;
    counts.downloadedBytes += bytes;
    counts.resumed += resumed;
    counts.renewed += renewed;
  });
  events.on('event', (_device, { type }) => {
    if (type === 'call.started') counts.calls += 1;
  });
  events.on('told', () => {
    counts.events += 1;
  });
  events.on('forgotten', () => {
    counts.eventsLost += 1;
  });
  events.on('upload', (_device, { size }) => {
    counts.uploads += 1;
    counts.uploadedBytes += size;
  });
  events.on('uploadRetry', () => {
    counts.uploadRetries += 1;
  });
  events.on('uploaded', (_device, { kind }) => {
    if (kind === 'failed') counts.uploadFailures += 1;
    else if (kind === 'unwanted') counts.unwanted += 1;
  });
  events.on('complaint', ({ deviceId }, { topic, reason }, provoked) => {
    if (provoked) return;
    counts.complaints += 1;
    onTrouble(deviceId, `the service complained about ${topic}: ${reason}`);
  });
  events.on('violation', ({ deviceId }, fault) => {
    counts.violations += 1;
    onTrouble(deviceId, `the service broke the contract: ${fault}`);
  });
  return counts;
}
