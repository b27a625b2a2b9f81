import type { Report } from './report.ts';
import type { Session } from './session.ts';

/** A member of the arguments of a tool, as JSON Schema has it. */
export type Property = Readonly<Record<string, unknown>>;

/** A tool: a question that people ask, or a change in two steps. */
export interface Tool {
  name: string;
  title: string;
  /** What it answers, in the words in which people ask. It is a constant: no text of strangers is ever part of it. */
  description: string;
  properties: Readonly<Record<string, Property>>;
  required?: readonly string[];
  /** The right that a change needs: a scope, or a role of administration. Absent for tools that only read. */
  writes?: string;
  /** Writes the answer. Throws Unanswered. */
  run(session: Session, given: never, report: Report): Promise<void>;
}

/** Checks at compile time that a tool reads the arguments that it declares. */
export const tool = <Given>(
  made: Omit<Tool, 'run'> & { run(session: Session, given: Given, report: Report): Promise<void> },
): Tool => made as Tool;

export const TEXT = (description: string, maxLength = 256): Property => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});
export const DEVICE: Property = { type: 'string', pattern: '^[0-9]{15}$', description: 'The deviceId: 15 digits.' };
export const SINCE: Property = TEXT(
  'Begin: an ISO 8601 date-time in UTC, such as 2026-11-30T00:00:00Z, or a time back from now: 24h, 7d.',
  40,
);
export const UNTIL: Property = TEXT('End: an ISO 8601 date-time in UTC.', 40);
export const CURSOR: Property = TEXT('The cursor behind `more:` of the answer before, for its next page.', 1024);
