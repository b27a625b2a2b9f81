import type { Breakage } from '../breakage.ts';

/** Data that a crash of the service loses or repeats. The run kills its process once. */
export const CRASH: readonly Breakage[] = [
  {
    name: 'answers-before-the-commit',
    about: 'A call is answered 201 a moment before its transaction is on the disk.',
    kind: 'loss in a crash',
    patches: [
      {
        file: 'platform/database/sqlite/group-commit.ts',
        search: '      commit.run();\n    } catch',
        replacement: `      const early = done.filter(({ key, outcome }) => key !== undefined && 'value' in outcome);
      for (const unit of early) unit.resolve(unit.outcome.value);
      if (early.length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
      commit.run();
    } catch`,
      },
    ],
    play: 'crash',
    figures: ['lost'],
    cause: /the service does not know the transaction/,
  },
  {
    name: 'answers-of-devices-acknowledged-too-early',
    about: 'The answer of a device gets its PUBACK a moment before it is stored.',
    kind: 'loss in a crash',
    patches: [
      {
        file: 'edge/mqtt/device-messages.ts',
        search: 'await transactions.settle(deviceId, ack, fence);',
        replacement: 'setTimeout(() => void transactions.settle(deviceId, ack, fence).catch(() => {}), 150);',
      },
    ],
    play: 'crash',
    figures: ['doubled', 'lost'],
    cause: /after its answer was acknowledged|has acknowledged the answer of the device, but still says/,
  },
  {
    name: 'webhooks-only-in-memory',
    about: 'Webhooks that wait for the receiver are in memory only.',
    kind: 'loss in a crash',
    patches: [
      {
        file: 'core/webhooks/recording.ts',
        search: 'insertEvent(unit, row, numbered, counted.has(key));',
        replacement: 'numbered(NO_NUMBERS); void [row, insertEvent];',
      },
    ],
    play: 'crash',
    figures: ['lost', 'eventsLost'],
    cause: /but no webhook arrived|and no webhook arrived/,
  },
  {
    name: 'webhooks-not-taken-up-at-the-start',
    about: 'Webhooks that waited when the service ended are not sent after the next start.',
    kind: 'loss in a crash',
    patches: [
      {
        file: 'core/webhooks/webhooks.ts',
        search: `timer.start();
      await takeUp();`,
        replacement: 'timer.start();',
      },
    ],
    play: 'crash',
    figures: ['late', 'lost'],
    cause: /came \d+\.\d s after the answer was acknowledged|no webhook arrived/,
  },
  {
    name: 'events-acknowledged-too-early',
    about: 'An event of a device gets its PUBACK a moment before it is stored.',
    kind: 'loss in a crash',
    patches: [
      {
        file: 'edge/mqtt/device-messages.ts',
        search: 'await events.accept(deviceId, event, bytes, fence);',
        replacement: 'setTimeout(() => void events.accept(deviceId, event, bytes, fence).catch(() => {}), 300);',
      },
    ],
    play: 'crash',
    figures: ['eventsLost'],
    cause: /was acknowledged, and no webhook arrived/,
  },
  {
    name: 'transaction-ids-start-again',
    about: 'After a restart the service gives out the same transactionIds again.',
    kind: 'loss in a crash',
    patches: [
      {
        file: 'platform/database/written-sets.ts',
        search: '`INSERT INTO',
        replacement: '`INSERT OR REPLACE INTO',
      },
      {
        file: 'core/transactions/transaction-repository.ts',
        search: "  ['device_id', 'text',",
        replacement: `  ['transaction_id', 'bigint', () => ++last],
  ['device_id', 'text',`,
      },
      {
        file: 'core/transactions/transaction-repository.ts',
        search: 'const COUNT_DUE = inSets(',
        replacement: `let last = 5_000_000;
const COUNT_DUE = inSets(`,
      },
    ],
    play: 'crash',
    figures: ['reused', 'violations'],
    cause: /the service gave the transactionId \d+ to two requests/,
  },
  {
    name: 'idempotency-keys-only-in-memory',
    about: 'A call that is repeated with its Idempotency-Key after a restart is carried out again.',
    kind: 'loss in a crash',
    patches: [
      {
        file: 'core/transactions/idempotency.ts',
        search: 'const kept = await findKeptAnswer(database.read, applicationId, keyHash, keptSince());',
        replacement: "const kept = ofThisProcess.get(keyHash.toString('hex'));",
      },
      {
        file: 'core/transactions/idempotency.ts',
        search: 'const keeping = findKeptAnswer(database.read, applicationId, keyHash, keptSince());',
        replacement: "const keeping = Promise.resolve(ofThisProcess.get(keyHash.toString('hex')));",
      },
      {
        file: 'core/transactions/idempotency.ts',
        search: `if (!(await keepAnswer(unit, kept, since))) throw new DomainError('IDEMPOTENCY_KEY_RUNNING');`,
        replacement: `unit.onCommit(() => ofThisProcess.set(keyHash.toString('hex'), kept));`,
      },
      {
        file: 'core/transactions/idempotency.ts',
        search: '  /** The requests in progress, by key.',
        replacement: `  const ofThisProcess = new Map();
  /** The requests in progress, by key.`,
      },
    ],
    play: 'crash',
    figures: ['wrong'],
    cause: /the answer to an Idempotency-Key .* has the wrong answer\.transactionId/,
  },
];
