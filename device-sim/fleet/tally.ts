import type { EventEmitter } from 'node:events';
import type { FleetEvents } from './fleet-events.ts';

/** The counts at the start of a fleet. */
const NOTHING = {
  connections: 0,
  /** Connections that ended although the device wanted to keep them. */
  losses: 0,
  /** Attempts to connect that were given up. */
  failedOpenings: 0,
  connectFailures: 0,
  /** Deliveries of commands, repetitions and cancels included. */
  commands: 0,
  /** Deliveries of commands that the device had received before. */
  repetitions: 0,
  cancels: 0,
  /** Deliveries that an old firmware left unanswered. */
  ignored: 0,
  /** Answers to commands, including those to repeated ones. */
  answers: 0,
  repeatedAnswers: 0,
  /** Executions that failed. */
  failures: 0,
  /** Answers that the service acknowledged. */
  acknowledged: 0,
  /** Downloads that ended, complete or not, and their bytes. */
  downloads: 0,
  downloadedBytes: 0,
  /** Downloads that resumed after they were cut. */
  resumed: 0,
  /** Requests for a fresh URL. */
  renewed: 0,
  /** Events that the service acknowledged, and events that a device dropped because it had no room for more. */
  events: 0,
  eventsLost: 0,
  /** Calls that began. */
  calls: 0,
  /** Files that were uploaded, and their bytes. */
  uploads: 0,
  uploadedBytes: 0,
  /** Repeated attempts of uploads, or of requests for their URLs. */
  uploadRetries: 0,
  /** Recordings, and files of the customer's application, whose upload was given up. */
  uploadFailures: 0,
  /**
   * Recordings, and files of the customer's application, that were not uploaded because the service has no upload URL
   * for them.
   */
  unwanted: 0,
  /** Messages on the errors topics. */
  complaints: 0,
  /** Breaches of the contract by the service. */
  violations: 0,
};

/** The totals of a fleet, which only grow. */
export type Tally = typeof NOTHING;

/** Counts the events of the devices of a fleet, and reports faults as sentences. */
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
  events.on('unopened', () => {
    counts.failedOpenings += 1;
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
    onTrouble(deviceId, `the service reported a fault in ${topic}: ${reason}`);
  });
  events.on('violation', ({ deviceId }, fault) => {
    counts.violations += 1;
    onTrouble(deviceId, `the service broke the contract: ${fault}`);
  });
  return counts;
}
