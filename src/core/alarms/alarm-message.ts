import { toUtc } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';

/** A message to the receiver of alarms. `firing` comes again while it lasts; `resolved` once, when it is over. */
export interface AlarmMessage {
  type: 'alarm.firing' | 'alarm.resolved' | 'alarm.test';
  /** The kind of the condition, or `part NAME` of a part of the service; the same in all messages about one alarm. */
  name: string;
  level: string;
  /** A sentence for people. */
  text: string;
  since: Micros;
}

const WORDS: Readonly<Record<AlarmMessage['type'], string>> = {
  'alarm.firing': '',
  'alarm.resolved': 'Over: ',
  'alarm.test': 'Test: ',
};

/** The one line that people read in a chat. */
export const lineOf = ({ type, level, text }: AlarmMessage): string =>
  `Lapel, ${type === 'alarm.resolved' ? 'resolved' : level}: ${WORDS[type]}${text}`;

/**
 * The body of a message: JSON of the service's own, or the template with `{text}` filled in, as chat systems take it:
 * `{"text":"{text}"}`. The line is escaped as a part of a JSON string.
 */
export function bodyOf(message: AlarmMessage, at: Micros, template: string | null): string {
  if (template !== null) return template.replaceAll('{text}', () => JSON.stringify(lineOf(message)).slice(1, -1));
  const { type, name, level, text, since } = message;
  return JSON.stringify({ type, timestamp: toUtc(at), data: { name, level, text, since: toUtc(since) } });
}
