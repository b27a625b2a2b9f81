import { createChances, type Decision } from '@lapel/device-sim/faults/chances';
import type { FaultRule, Occasion } from '@lapel/device-sim/faults/fault';
import t from 'tap';

const command = (key: number, operation = 'setWifi', phase?: string): Occasion => ({
  kind: 'command',
  key,
  operation,
  phase,
});

t.test('the faults of a device do not depend on earlier decisions', (t) => {
  const rules: FaultRule[] = [
    { fault: 'answers-late', probability: 0.3, delay: { min: 100, max: 900 } },
    { fault: 'fails', probability: 0.3 },
  ];
  const chances = () => createChances({ seed: 7, device: 3, rules });
  const keys = Array.from({ length: 200 }, (_, key) => key);
  const forward = chances();
  const backward = chances();
  const one = keys.map((key) => forward.on(command(key)));
  const other = keys
    .toReversed()
    .map((key) => {
      backward.hits(command(key), 'something else', 0.5);
      return backward.on(command(key));
    })
    .toReversed();
  t.strictSame(one, other);
  const counts = (kind?: string) => one.filter((fault) => fault?.kind === kind).length;
  t.ok(counts('answers-late') > 40 && counts('answers-late') < 80, `${counts('answers-late')} late`);
  t.ok(counts('fails') > 25 && counts('fails') < 60, `${counts('fails')} fail`);
  for (const fault of one) if (fault?.kind === 'answers-late') t.ok(fault.delay >= 100 && fault.delay <= 900);
  const another = createChances({ seed: 7, device: 4, rules });
  t.notSame(
    keys.map((key) => another.on(command(key))),
    one,
    'another device has other faults',
  );
  t.end();
});

t.test('a rule applies to its occasions, operations and phases only', (t) => {
  const sure = (rule: Omit<FaultRule, 'probability'>) =>
    createChances({ seed: 1, device: 0, rules: [{ ...rule, probability: 1 }] });
  t.strictSame(sure({ fault: 'fails' }).on({ kind: 'connection', key: 1 }), undefined);
  t.strictSame(sure({ fault: 'fails', operations: ['setApn'] }).on(command(1)), undefined);
  t.strictSame(sure({ fault: 'fails', operations: ['setApn'] }).on(command(1, 'setApn')), { kind: 'fails', delay: 0 });
  t.strictSame(sure({ fault: 'fails', phases: ['night'] }).on(command(1)), undefined);
  t.strictSame(sure({ fault: 'fails', phases: ['night'] }).on(command(1, 'setWifi', 'night')), {
    kind: 'fails',
    delay: 0,
  });
  t.strictSame(sure({ fault: 'slow-reader', delay: { min: 5, max: 5 } }).on({ kind: 'connection', key: 1 }), {
    kind: 'slow-reader',
    delay: 5,
  });
  t.end();
});

t.test('random decisions can be logged', (t) => {
  const log: Decision[] = [];
  const rules: FaultRule[] = [{ fault: 'fails', probability: 0 }];
  const chances = createChances({ seed: 1, device: 0, rules, onDecision: (decision) => log.push(decision) });
  chances.on({ kind: 'connection', key: 1 });
  chances.on(command(1));
  chances.within(command(1), 'latency', { min: 3, max: 4 });
  chances.within(command(1), 'latency', { min: 3, max: 3 });
  chances.hits(command(1), 'repeats', 1);
  t.match(log, [
    { about: 'fault', outcome: null },
    { about: 'latency', outcome: Number },
    { about: 'repeats', outcome: true },
  ]);
  t.equal(log.length, 3, 'what leaves nothing to chance is no decision');
  t.end();
});
