import type { Command } from '../mqtt/messages.ts';

type Parameters = Command['parameters'];

/** Makes the commands of a test. No two runs make a command with the same transactionId and issuedAt. */
export interface CommandMaker {
  next(operation: string, parameters: Parameters, transactionId?: number): Command;
  /** The same command again, as the service repeats it. */
  repeated(command: Command): Command;
  /** Another command with the same transactionId, as a service gives it out after it has lost its data. */
  reissued(command: Command, operation: string, parameters: Parameters): Command;
  cancelOf(command: Command): Command;
  /** Whether the test has sent a command with this transactionId. */
  knows(transactionId: number): boolean;
}

/** `now`: the Unix time in milliseconds. */
export function createCommandMaker(now: () => number): CommandMaker {
  // The numbers rise from run to run, because a device that ignores issuedAt would take those of an earlier run for
  // repetitions, and fail every case in place of one.
  let last = Math.floor(now() / 1000);
  let made = 0;
  const known = new Set<number>();

  /** A time with microseconds, different for each command. */
  function issuedAt(): string {
    made += 1;
    return new Date(now()).toISOString().replace('Z', `${String(made % 1000).padStart(3, '0')}Z`);
  }

  return {
    next(operation, parameters, transactionId = last + 1) {
      if (transactionId === last + 1) last += 1;
      known.add(transactionId);
      return { transactionId, operation, parameters, issuedAt: issuedAt(), attempt: 1 };
    },
    repeated: (command) => ({ ...command, attempt: command.attempt + 1 }),
    reissued: (command, operation, parameters) => ({
      ...command,
      operation,
      parameters,
      issuedAt: issuedAt(),
      attempt: 1,
    }),
    cancelOf: ({ transactionId, issuedAt: at }) => ({
      transactionId,
      operation: 'cancel',
      parameters: {},
      issuedAt: at,
      attempt: 1,
    }),
    knows: (transactionId) => known.has(transactionId),
  };
}
