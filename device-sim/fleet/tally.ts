import type { Device } from '../model/device.ts';

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

/** Counts what the devices tell of themselves that it watches, and says what is wrong, in words. */
export function createTally({ onTrouble }: { onTrouble: (deviceId: string, text: string) => void }) {
  const counts: Tally = { ...NOTHING };

  function watch({ deviceId, events }: Device): void {
    const trouble = (text: string): void => onTrouble(deviceId, text);
    events.on('online', () => {
      counts.connections += 1;
    });
    events.on('offline', (_reason, expected) => {
      if (!expected) counts.losses += 1;
    });
    events.on('refused', (error) => {
      counts.connectFailures += 1;
      trouble(`refused: ${error.message}`);
    });
    events.on('command', (_command, reaction) => {
      counts.commands += 1;
      if (reaction === 'repeat' || reaction === 'underway') counts.repetitions += 1;
      else if (reaction === 'cancel') counts.cancels += 1;
      else if (reaction === 'ignored') counts.ignored += 1;
    });
    events.on('answer', ({ status }, repeated) => {
      counts.answers += 1;
      if (repeated) counts.repeatedAnswers += 1;
      else if (status === 'failed') counts.failures += 1;
    });
    events.on('acknowledged', () => {
      counts.acknowledged += 1;
    });
    events.on('download', ({ bytes, resumed, renewed }) => {
      counts.downloads += 1;
      counts.downloadedBytes += bytes;
      counts.resumed += resumed;
      counts.renewed += renewed;
    });
    events.on('event', ({ type }) => {
      if (type === 'call.started') counts.calls += 1;
    });
    events.on('told', () => {
      counts.events += 1;
    });
    events.on('forgotten', () => {
      counts.eventsLost += 1;
    });
    events.on('upload', ({ size }) => {
      counts.uploads += 1;
      counts.uploadedBytes += size;
    });
    events.on('uploadRetry', () => {
      counts.uploadRetries += 1;
    });
    events.on('uploaded', ({ kind }) => {
      if (kind === 'failed') counts.uploadFailures += 1;
      else if (kind === 'unwanted') counts.unwanted += 1;
    });
    events.on('complaint', ({ topic, reason }) => {
      counts.complaints += 1;
      trouble(`the service complained about ${topic}: ${reason}`);
    });
    events.on('violation', (fault) => {
      counts.violations += 1;
      trouble(`the service broke the contract: ${fault}`);
    });
  }

  return { counts, watch };
}
