import type { Answer, Command } from '../mqtt/messages.ts';
import { type Difference, differences } from './differences.ts';
import type { Asked, Entry, Outcome } from './entry.ts';
import { isExpiry, OF_TERMS } from './stops.ts';

/** How many different answers to one command are remembered: a device that restarted may answer differently. */
const ANSWERS_KEPT = 3;

/** Error codes with which the service itself ends a transaction. No device has answered then. */
export const OF_THE_SERVICE: ReadonlySet<string> = new Set([
  'DISTRIBUTION_STOPPED',
  'BINARY_DELETED',
  'SIGNATURE_MISSING',
  'SIGNATURE_INVALID',
  'CERTIFICATE_CHANGED',
]);

/**
 * The differences between the end of a transaction whose time has passed and its terms: the customer must have given the
 * term, and its time must have passed since the request.
 */
function wrongTime(
  { asked, requestedAt, result }: Entry,
  code: string,
  term: 'expireIn' | 'answerWithin' | 'revertAfter',
): Difference[] {
  const seconds = asked?.terms?.[term];
  if (seconds === undefined) return differences('error.code', null, code);
  const passed = ((result?.at ?? Number.POSITIVE_INFINITY) - requestedAt) / 1000;
  return passed >= seconds
    ? []
    : [{ field: 'time', wanted: `at least ${seconds} s after the request`, found: `${passed.toFixed(1)} s` }];
}

/** The code of a device that has taken its former networks again. */
export const REVERTED = 'REVERTED';

/** The code of the error of a transaction; empty without one. */
export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
};
/**
 * An administrator may deactivate a device that does not answer (contract, section 5). The transaction then succeeds
 * without an answer of the device.
 */
const byAdministration = ({ operation, result }: Outcome): boolean =>
  operation === 'deactivate' && (result as { by?: unknown } | null)?.by === 'administration';

const outcomeFields = ['status', 'result', 'error'] as const;

function compareOutcome(wanted: Pick<Outcome, (typeof outcomeFields)[number]>, found: Outcome): Difference[] {
  return outcomeFields.flatMap((field) => differences(field, wanted[field], found[field]));
}

/**
 * The differences between a command and its request. Empty if this run did not make the request, or while its 201 has
 * not arrived.
 */
export function wrongIn({ operation, parameters }: Pick<Command, 'operation' | 'parameters'>, asked: Asked | null) {
  if (!asked) return [];
  return [
    ...differences('operation', asked.operation, operation),
    ...differences('parameters', asked.parameters, parameters, new Set(asked.added)),
  ];
}

/** Remembers an answer of the device, for the comparison with the result. */
export function remembersAnswer(entry: Entry, answer: Answer): void {
  const { status, result = null, error = null } = answer;
  const given = { status, result, error };
  if (entry.given.some((one) => compareOutcome(one, { operation: '', ...given }).length === 0)) return;
  entry.given = [...entry.given, given].slice(-ANSWERS_KEPT);
}

/** The difference between a result and the 204 to a cancel, which promises that the transaction is cancelled. */
export const wrongCancel = ({ cancelledAt }: Pick<Entry, 'cancelledAt'>, status: string): Difference[] =>
  cancelledAt === null ? [] : differences('status', 'cancelled', status);

/**
 * The differences between a result and the answers of the device. Empty if the request is not known. `superseding`: the
 * customer has asked for a command of the device that may supersede others.
 */
export function wrongResult(entry: Entry, outcome: Outcome, superseding = false): Difference[] {
  const { asked, given } = entry;
  if (!asked) return [];
  const operation = differences('operation', asked.operation, outcome.operation);
  const cancel = wrongCancel(entry, outcome.status);
  if (cancel.length > 0) return [...operation, ...cancel];
  const code = codeOf(outcome.error);
  if (outcome.status === 'cancelled') {
    return superseding && code === 'SUPERSEDED'
      ? operation
      : [...operation, ...differences('error', null, outcome.error)];
  }
  // The transaction has expired, so the device's answers do not matter, not even later ones.
  if (isExpiry(outcome.status, code))
    return [...operation, ...wrongTime(entry, code, OF_TERMS[code as keyof typeof OF_TERMS])];
  if (byAdministration(outcome)) return operation;
  const [nearest] = given
    .map((answer) => compareOutcome(answer, outcome))
    .toSorted((one, other) => one.length - other.length);
  const tooEarly = code === REVERTED ? wrongTime(entry, code, 'revertAfter') : [];
  if (nearest) return [...operation, ...tooEarly, ...nearest];
  if (outcome.status === 'failed' && OF_THE_SERVICE.has(code)) return operation;
  return [
    ...operation,
    { field: 'status', wanted: '"no answer of the device"', found: JSON.stringify(outcome.status) },
  ];
}

/** The differences between the record of a transaction and its webhook. */
export const wrongRecord = (webhook: Outcome, record: Outcome): Difference[] => [
  ...differences('operation', webhook.operation, record.operation),
  ...compareOutcome(webhook, record),
];
