/** A change that no caller, device or operator can see. It is found by its texts, and by that of its line. */
export interface Equivalent {
  readonly file: string;
  /** The line on which the change begins, without the blanks around it. */
  readonly source: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

/** Mutants that are never planted, each with the reason for which no test can see it. */
export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'src/core/transactions/due-repository.ts',
    source: 'return new Map(rows.map(({ transactionId, held }) => [transactionId, held === 1]));',
    before: '1',
    after: '(1 + 1)',
    reason: 'a command that is held is then claimed in vain, because the claim looks at its rollout again',
  },
  {
    file: 'src/core/rollouts/driver.ts',
    source: 'times.clear();',
    before: 'times.clear();',
    after: ';',
    reason:
      'the time of a rollout that has ended stays until it comes; then the rollout is looked up, and is at work no more',
  },
  {
    file: 'src/core/rollouts/steps.ts',
    source: 'const isLetPass = (plan.letPass ?? -1) >= stage && failed;',
    before: '1',
    after: '(1 + 1)',
    reason: 'it stands in -1, a stage that is let pass if there is none; -2 is also below each stage',
  },
  {
    file: 'src/core/webhooks/slots.ts',
    source: 'let refused = 0;',
    before: '0',
    after: '(0 + 1)',
    reason: 'it makes 31 callers of 32 that are asked at a time; the others are asked when the next slot is free',
  },
  {
    file: 'src/core/rollouts/window.ts',
    source: 'const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));',
    before: '5',
    after: '(5 + 1)',
    reason: 'a time of a window has five characters',
  },
  {
    file: 'src/core/requests/response-sender.ts',
    source: 'if (wanted.length > room || found.length === limit) connection.backlog = true;',
    before: 'wanted.length > room',
    after: '((wanted.length) >= room)',
    reason: 'another read finds no further answer',
  },
  {
    file: 'src/core/authorities/authority-endings.ts',
    source: 'after = devices.length < DEVICES ? undefined : devices.at(-1)?.deviceId;',
    before: '?.',
    after: '.',
    reason: 'a whole page has a last device',
  },
  {
    file: 'src/core/audit/chain-repository.ts',
    source: 'const kept = rows.findIndex(({ at }) => at >= before);',
    before: 'at >= before',
    after: '((at) > before)',
    reason: 'an entry whose age is the bound to the microsecond goes in this sweep or in the next one',
  },
  {
    file: 'src/edge/mqtt/packet-reader.ts',
    source: 'first: 0,',
    before: '0',
    after: '(0 + 1)',
    reason: 'the look at a packet sets it before anybody reads it',
  },
  {
    file: 'src/core/device-actions/carrying.ts',
    source: 'delete: 1,',
    before: '1',
    after: '(1 + 1)',
    reason: 'how many devices share a unit of work is seen in no answer and no row',
  },
  {
    file: 'src/edge/feed/feed.ts',
    source: 'const isSecond = flushes % PER_SECOND === 0;',
    before: '0',
    after: '(0 + 1)',
    reason: 'one of four flushes looks at the rows of each second in both cases, and no reader knows which',
  },
  {
    file: 'src/core/rollouts/driver.ts',
    source: 'times.clear();',
    before: 'times.clear();',
    after: ';',
    reason: 'a time that is left costs one look at a rollout that has no step then',
  },
  {
    file: 'src/core/transactions/due-repository.ts',
    source: 'return new Map(rows.map(({ transactionId, held }) => [transactionId, held === 1]));',
    before: '1',
    after: '(1 + 1)',
    reason: 'the claim of a command, in the same unit of work, finds again that its rollout holds it back',
  },
];
