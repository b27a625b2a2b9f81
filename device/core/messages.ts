import type { Answered } from './effects.ts';

type JsonObject = Record<string, unknown>;

/** A command, or the cancel of one, as the topic `commands` has it. */
export interface ReceivedCommand {
  transactionId: number;
  issuedAt: string;
  operation: string;
  parameters: JsonObject;
}

/** The same number with another issuedAt is another command. */
export const idOf = ({ transactionId, issuedAt }: Pick<ReceivedCommand, 'transactionId' | 'issuedAt'>): string =>
  `${transactionId} ${issuedAt}`;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined: it is no JSON object. */
function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined: it cannot be read. Unknown members are ignored. */
export function readCommand(text: string): ReceivedCommand | undefined {
  const { transactionId, issuedAt, operation, parameters } = parse(text) ?? {};
  if (typeof transactionId !== 'number' || !Number.isSafeInteger(transactionId) || transactionId < 1) return undefined;
  if (typeof issuedAt !== 'string' || typeof operation !== 'string') return undefined;
  return { transactionId, issuedAt, operation, parameters: isObject(parameters) ? parameters : {} };
}

/** Undefined: it cannot be read. */
export function readResponse(text: string): Answered | undefined {
  const { requestId, data, error } = parse(text) ?? {};
  if (typeof requestId !== 'string') return undefined;
  if (!isObject(error)) return { requestId, data: isObject(data) ? data : {} };
  const { code, message } = error;
  return {
    requestId,
    error: {
      code: typeof code === 'string' ? code : 'INTERNAL',
      message: typeof message === 'string' ? message : 'the service gave no reason.',
    },
  };
}
