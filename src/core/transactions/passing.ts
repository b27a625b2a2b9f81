import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';

const PASSING: readonly ErrorCode[] = ['DATABASE_UNAVAILABLE', 'OBJECT_STORE_UNAVAILABLE', 'OVERLOADED'];

/** Whether an error passes by itself, and says nothing about the command and its device: it is tried again. */
export const isPassing = (error: unknown): boolean => error instanceof DomainError && PASSING.includes(error.code);
