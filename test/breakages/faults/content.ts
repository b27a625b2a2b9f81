import type { Breakage } from '../breakage.ts';

/** Messages with another content than the messages that they were made from. */
export const CONTENT: readonly Breakage[] = [
  {
    name: 'emoji-replaced-in-commands',
    about: 'Characters beyond the first plane of Unicode arrive at the device as question marks.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/submission.ts',
        search: 'const parameters = parametersOf(submission, {',
        replacement: `const questioned = (value: object) =>
      JSON.parse(JSON.stringify(value).replace(/[\\u{10000}-\\u{10ffff}]/gu, '?'));
    const parameters = parametersOf(questioned(submission), {`,
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /command \d+ has the wrong parameters\S+: ".*\?.*" instead of/,
  },
  {
    name: 'empty-texts-lost-in-the-queue',
    about: 'A command that waits for its device loses the parameters that are empty texts.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/stored-parameters.ts',
        search: '(JSON.parse(sql.vault.open(placeOf(place), stored)) as object)',
        replacement:
          "JSON.parse(sql.vault.open(placeOf(place), stored), (_, value) => (value === '' ? undefined : value))",
      },
    ],
    play: 'away',
    figures: ['wrong'],
    cause: /command \d+ has the wrong parameters\S+: \S+ instead of ""/,
  },
  {
    name: 'result-of-the-transaction-before',
    about: 'A webhook has the result of the transaction that ended before.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/result-event.ts',
        search: 'data: { transaction: transactionBody(finished, toUtc) },',
        replacement:
          'data: { transaction: { ...transactionBody(finished, toUtc), result: exchange(finished.result) } },',
      },
      {
        file: 'core/transactions/result-event.ts',
        search: '/** Stores a webhook in a unit of work, and returns its deliveryId. */',
        replacement: `let before = null;
function exchange(result) {
  const former = before;
  before = result;
  return former;
}

/** Stores a webhook in a unit of work, and returns its deliveryId. */`,
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the webhook of transaction \d+ has the wrong result/,
  },
  {
    name: 'error-code-lost',
    about: 'A failed command is reported with the code INTERNAL, whatever the device has answered.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/settlement.ts',
        search: 'errorCode: error?.code ?? null,',
        replacement: 'errorCode: error ? NO_REASON.code : null,',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the webhook of transaction \d+ has the wrong error\.code: "INTERNAL" instead of/,
  },
  {
    name: 'failures-become-successes',
    about: 'A command that the device has answered with a failure ends as succeeded.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/settlement.ts',
        search: 'const status = nextStatus(found.status, ack.status);',
        replacement: `const status = nextStatus(found.status, ack.status === 'failed' ? 'succeeded' : ack.status);`,
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the webhook of transaction \d+ has the wrong status: "succeeded" instead of "failed"/,
  },
  {
    name: 'false-left-out-of-results',
    about: 'Members of a result that are false are missing in the webhook.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/transaction-body.ts',
        search: 'result: record.result,',
        replacement:
          'result: JSON.parse(JSON.stringify(record.result), (_, value) => (value === false ? undefined : value)),',
      },
    ],
    play: 'smoke',
    figures: ['wrong'],
    cause: /the webhook of transaction \d+ has the wrong result\.\S+: \S+ instead of false/,
  },
  {
    name: 'reports-change-nothing',
    about: 'A status report adds fields, but does not change fields that were reported before.',
    kind: 'content',
    patches: [
      {
        file: 'core/devices/statuses.ts',
        search: 'const reported = { ...before, ...Object.fromEntries(news) };',
        replacement: 'const reported = { ...Object.fromEntries(news), ...before };',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the status of device \d+ has the wrong lang/,
  },
  {
    name: 'installed-version-not-updated',
    about: 'The status of a device keeps the first version of a package that was ever installed.',
    kind: 'content',
    patches: [
      {
        file: 'core/devices/statuses.ts',
        search: 'const reported = { ...before, ...Object.fromEntries(news) };',
        replacement: `const reported = { ...before, ...Object.fromEntries(news) };
        const known = new Map((before.software?.value ?? []).map((one) => [one.package, one]));
        if (fields.software)
          reported.software = { value: fields.software.map((one) => known.get(one.package) ?? one), at };`,
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the status of device \d+ has the wrong software\S*: .*1\.0\.0.* instead of .*1\.1\.0/,
  },
  {
    name: 'record-without-result',
    about: 'The record of a transaction lacks the result that its webhook has.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/ends.ts',
        search: '    updateTransaction(unit, finished, due);',
        replacement: '    updateTransaction(unit, { ...finished, result: null }, due);',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the record of transaction \d+ has the wrong result: null instead of/,
  },
  {
    name: 'devices-mixed-up-in-one-turn',
    about: 'When webhooks of two devices are made in one turn of the event loop, both name the first device.',
    kind: 'content',
    patches: [
      {
        file: 'core/webhooks/recording.ts',
        search: 'data: { ...event.data, applicationId, deviceId } });',
        replacement: 'data: { ...event.data, applicationId, deviceId: ofThisTurn(deviceId) } });',
      },
      {
        file: 'core/webhooks/recording.ts',
        search: '/** Stores events, with their deliveries, in the units of work that cause them. */',
        replacement: `let first;
function ofThisTurn(deviceId) {
  if (first === undefined) setImmediate(() => (first = undefined));
  first ??= deviceId;
  return first;
}

/** Stores deliveries in the units of work that cause them. */`,
      },
    ],
    play: 'load',
    figures: ['wrong'],
    cause: /has the wrong data\.deviceId: "\d{15}" instead of "\d{15}"/,
  },
  {
    name: 'download-of-the-first-version',
    about: 'The download URL of an install leads to the first version of the package that was ever installed.',
    kind: 'content',
    patches: [
      {
        file: 'core/software/installs.ts',
        search: `const stored = await objects.head(installable.objectKey);
      if (!stored) return undefined;
      const sha256 =`,
        replacement: `first ??= installable;
      installable = first;
      const stored = await objects.head(installable.objectKey);
      if (!stored) return undefined;
      const sha256 =`,
      },
      {
        file: 'core/software/installs.ts',
        search: '/** Checks for an install (op 28)',
        replacement: `let first;

/** Checks for an install (op 28)`,
      },
    ],
    play: 'everyday',
    figures: ['failed'],
    cause: /failed VERSION_(?:CODE_NOT_HIGHER|NAME_MISMATCH)/,
  },
  {
    name: 'stale-presence',
    about: 'A device whose status was read while it was away is shown as away for ever.',
    kind: 'content',
    patches: [
      {
        file: 'core/devices/statuses.ts',
        search: 'const isConnected = await connected([deviceId]);',
        replacement: `known.set(deviceId, known.get(deviceId) ?? (await connected([deviceId])));
      const isConnected = known.get(deviceId);`,
      },
      {
        file: 'core/devices/statuses.ts',
        search: 'export type Statuses = ReturnType<typeof createStatuses>;',
        replacement: `const known = new Map();
export type Statuses = ReturnType<typeof createStatuses>;`,
      },
    ],
    play: 'away',
    figures: ['wrong'],
    cause: /the status of device \d+ has the wrong connected: false instead of true/,
  },
  {
    name: 'cancel-answered-and-not-carried-out',
    about: 'A cancel of a command that was already sent is answered 204, and changes nothing.',
    kind: 'content',
    patches: [
      {
        file: 'core/transactions/settlement.ts',
        search: "if (!isAlone && needsAlone(record, 'cancelled')) return false;",
        replacement: 'if (record.attempts > 0) return true;',
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /transaction \d+ has the wrong status: "succeeded" instead of "cancelled"/,
  },
  {
    name: 'status-shared-by-callers',
    about: 'Callers that read the status of a device within 20 ms of another caller get the status of his device.',
    kind: 'content',
    patches: [
      {
        file: 'core/devices/statuses.ts',
        search: `async find(deviceId: string): Promise<DeviceState> {
      const nothing`,
        replacement: `async find(asked: string): Promise<DeviceState> {
      if (shared === undefined) setTimeout(() => (shared = undefined), 20);
      shared ??= asked;
      const deviceId = shared;
      const nothing`,
      },
      {
        file: 'core/devices/statuses.ts',
        search: 'export type Statuses = ReturnType<typeof createStatuses>;',
        replacement: `let shared;
export type Statuses = ReturnType<typeof createStatuses>;`,
      },
    ],
    play: 'everyday',
    figures: ['wrong'],
    cause: /the status of device \d+ has the wrong deviceId: "\d{15}" instead of "\d{15}"/,
  },
];
