import type { Inside, InsideAnswer, InsideCall } from '../http/inside.ts';
import { data } from './foreign.ts';
import type { Done } from './once.ts';
import { type Place, readCursor } from './report.ts';

/** An answer of a tool that says why it cannot answer. */
export class Unanswered extends Error {}

/** The caller of a tool, and what a tool works with: the operations of the listener, in the name of the caller. */
export interface Session {
  /** Calls an operation and returns the body of its answer. Throws Unanswered for an answer that is no success. */
  ask<Answer>(operation: string, call?: InsideCall): Promise<Answer>;
  /** What to throw for an answer that is no success. */
  refused(answer: InsideAnswer): Unanswered;
  /** The place that a cursor names. Throws Unanswered. */
  placeOf(cursor: string | undefined): Place;
  /** The time zone of local date-times. */
  zone: string;
  /** Like `ask`, with the status and the headers, whatever the status is. */
  call(operation: string, call?: InsideCall): Promise<InsideAnswer>;
  /** The application that the tools speak of; undefined for administration. */
  applicationId: string | undefined;
  /** Whether the caller has a scope, or for administration a role. */
  may(right: string): boolean;
  /** The address of a page of the console. */
  link(...path: (string | number)[]): string;
  /** Bound to the token of the caller: proposals of one token are no good with another. */
  tokenKey: Buffer;
  /** Carries out each confirmed proposal once. */
  once(key: string, act: () => Promise<readonly string[]>): Promise<Done>;
  /** The name that the assistant gives itself. */
  assistant: string;
  /** Microseconds. */
  now(): number;
  /** A random text. */
  nonce(): string;
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'The token is missing, has expired or was revoked: sign in again.',
  429: 'A limit is reached.',
  503: 'The service is at its limit, or its database is away.',
};

/** Turns an answer that is no success into words. */
export function refusalOf({ status, headers, body }: InsideAnswer): Unanswered {
  const { message, reason, details } = (body ?? {}) as { message?: string; reason?: string; details?: Fault[] };
  const code = headers['lapel-error-code'];
  const faults = (details ?? []).slice(0, 5).map(({ loc, msg }) => `${data(loc.join('.'), 60)}: ${data(msg, 120)}`);
  const wait = headers['retry-after'];
  const parts = [
    `The service refused: ${code ?? status} (status ${status}).`,
    `It said ${data(message ?? reason ?? '', 240)}.`,
    REFUSALS[status],
    faults.length > 0 && `Faults: ${faults.join('; ')}`,
    wait !== undefined && `Repeat after ${wait} seconds.`,
    code !== undefined && `explain_error with code=${code} says more.`,
  ];
  return new Unanswered(parts.filter(Boolean).join(' '));
}

interface Fault {
  loc: string[];
  msg: string;
}

interface AskParts {
  inside: Inside;
  applicationId: string | undefined;
  timeZone: string;
  same: Readonly<Record<string, string>>;
}

/** Makes the functions with which tools call operations. */
export function createAsk({
  inside,
  applicationId,
  timeZone,
  same,
}: AskParts): Pick<Session, 'ask' | 'call' | 'refused' | 'placeOf' | 'zone'> {
  const call: Session['call'] = (operation, given = {}) =>
    inside(same[operation] ?? operation, {
      ...given,
      params: { ...(applicationId !== undefined && { applicationId }), ...given.params },
    });
  return {
    call,
    zone: timeZone,
    refused: refusalOf,
    placeOf(cursor) {
      const place = readCursor(cursor);
      if (place) return place;
      throw new Unanswered('The cursor is not one of this service: take it from the line `more:`, unchanged.');
    },
    async ask<Answer>(operation: string, given?: InsideCall) {
      const answer = await call(operation, given);
      if (answer.status >= 400) throw refusalOf(answer);
      return answer.body as Answer;
    },
  };
}
