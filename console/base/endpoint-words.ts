import { count, counted, duration, when } from './format.ts';
import type { Endpoint } from './rows.ts';

/** The number that stands for itself or more, in the state of an endpoint. */
const MOST = 10_000;

/** A number of the state of an endpoint. */
export const upTo = (value: number, most = MOST): string => (value >= most ? `${count(most)} or more` : count(value));

/** A number of events of the state of an endpoint, with its noun. */
export const events = (value: number, most = MOST): string =>
  value >= most ? `${count(most)} or more events` : counted(value, 'event');

/** The name of an endpoint for people: its description, else the host of its URL. */
export function endpointName({ description, url }: Pick<Endpoint, 'description' | 'url'>): string {
  if (description !== '') return description;
  return URL.canParse(url) ? new URL(url).host : url;
}

interface Words {
  /** One word for the state. */
  word: 'working' | 'waiting' | 'failing' | 'disabled';
  tone: 'good' | 'calm' | 'bad' | 'warn';
  sentence: string;
}

type Stated = Pick<
  Endpoint,
  | 'enabled'
  | 'disabledReason'
  | 'failingSince'
  | 'lastStatusCode'
  | 'lastError'
  | 'blockedDevices'
  | 'ordered'
  | 'state'
>;

/** The state of an endpoint in a word and a sentence. */
export function endpointWords(endpoint: Stated): Words {
  const { enabled, disabledReason, failingSince, lastStatusCode, lastError, blockedDevices, ordered, state } = endpoint;
  if (!enabled)
    return disabledReason === 'failing'
      ? { word: 'disabled', tone: 'bad', sentence: 'Disabled, because it had failed for five days.' }
      : { word: 'disabled', tone: 'warn', sentence: 'Disabled by somebody.' };
  const held = ordered === 'device' ? blockedDevices.length : 0;
  // The service lists so many at most.
  const devices = held === 100 ? '100 or more devices' : counted(held, 'device');
  if (failingSince !== null) {
    const answer = lastError ?? (lastStatusCode === null ? '' : `answered ${lastStatusCode}`);
    const behind = held === 0 ? '' : ` Events of ${devices} wait for an earlier one.`;
    const sentence = `Fails since ${when(failingSince)}${answer === '' ? '' : `: ${answer}`}.${behind}`;
    return { word: 'failing', tone: 'bad', sentence };
  }
  const oldest = state.seconds > 0 ? `, the oldest for ${duration(state.seconds * 1_000)}` : '';
  if (held > 0)
    return { word: 'waiting', tone: 'warn', sentence: `Events of ${devices} wait for an earlier one${oldest}.` };
  const waiting = state.pending + state.blocked;
  if (waiting > 0) {
    const sentence = `${events(waiting)} ${waiting === 1 ? 'waits' : 'wait'} to be sent${oldest}.`;
    return { word: 'waiting', tone: 'calm', sentence };
  }
  if (state.behind > 0)
    return {
      word: 'waiting',
      tone: 'calm',
      sentence: `It has not looked at ${state.behind === 1 ? 'the last event' : `the last ${events(state.behind)}`} yet.`,
    };
  return state.delivered > 0 && state.failed === 0
    ? { word: 'working', tone: 'good', sentence: 'Nothing waits, and every attempt of the last 24 hours was accepted.' }
    : { word: 'working', tone: 'good', sentence: 'Nothing waits to be sent.' };
}
