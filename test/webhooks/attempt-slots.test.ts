import t from 'tap';
import { createAttemptSlots } from '../../src/core/webhooks/attempt-slots.ts';
import { began, createReceiver, ended, type Receiver } from '../../src/core/webhooks/receiver.ts';
import { createSlots } from '../../src/core/webhooks/slots.ts';
import { createFakeClock } from '../fake-clock.ts';

const quick = (applicationId: string): Receiver => ({
  ...createReceiver({ applicationId, setting: 'deviceEvent' }),
  kind: 'quick',
});

function world() {
  const slots = createAttemptSlots<Receiver>({
    clock: createFakeClock(),
    resume: () => undefined,
    late: () => undefined,
    onCut: () => undefined,
  });
  const take = (receiver: Receiver): (() => void) => {
    const slot = slots.take(receiver);
    began(receiver);
    return () => {
      slots.release(slot);
      ended(receiver);
    };
  };
  /** Begins as many attempts as the receiver may; returns functions that end them. */
  function takeAll(receiver: Receiver): (() => void)[] {
    const ends: (() => void)[] = [];
    while (slots.mayTake(receiver)) ends.push(take(receiver));
    return ends;
  }
  return { slots, take, takeAll };
}

void t.test('receivers that begin to hang, one after another, leave slots for all others', async (t) => {
  const { slots, take, takeAll } = world();
  const taken = Array.from({ length: 32 }, (_, index) => takeAll(quick(`hangs-${index}`)).length);
  t.ok(Math.max(...taken) <= 32, `the first one takes ${taken[0]}`);
  t.ok(Math.min(...taken) >= 1, 'each is attempted');
  let others = 0;
  for (; others < 512 && slots.mayTake(quick(`answers-${others}`)); others += 1) take(quick(`answers-${others}`));
  t.ok(others >= 64, `${others} others find a slot`);
});

void t.test('a receiver that answers takes half of the slots, and then shares them evenly with another', async (t) => {
  const { takeAll } = world();
  const alone = quick('alone');
  const ends = takeAll(alone);
  let answers = 0;
  while (alone.inFlight < 256 && answers < 1000) {
    ends.shift()?.();
    answers += 1;
    ends.push(...takeAll(alone));
  }
  t.equal(alone.inFlight, 256);
  t.ok(answers <= 256, `after ${answers} answers`);

  const second = quick('second');
  const others = takeAll(second);
  for (let round = 0; round < 512; round += 1) {
    ends.shift()?.();
    others.shift()?.();
    ends.push(...takeAll(alone));
    others.push(...takeAll(second));
  }
  t.ok(Math.abs(alone.inFlight - second.inFlight) <= 2, `${alone.inFlight} and ${second.inFlight}`);
  t.ok(alone.inFlight >= 169, 'a third is left free');
});

void t.test('a receiver whose attempts have all ended may begin another one, even if few slots are free', async (t) => {
  const { slots, takeAll } = world();
  for (let index = 0; index < 60; index += 1) takeAll(quick(`hangs-${index}`));
  const receiver = quick('one');
  for (let round = 0; round < 20; round += 1) {
    const ends = takeAll(receiver);
    t.ok(ends.length >= 1 && ends.length <= 4, `${ends.length} attempts`);
    for (const end of ends) end(); // without an answer, for example
  }
  t.match(receiver, { inFlight: 0, ahead: 0 });
  t.ok(slots.mayTake(receiver));
});

void t.test(
  'those that wait are asked in their order, and those that need nothing are no reason to stop',
  async (t) => {
    const asked: number[] = [];
    const slots = createSlots<number>(1, (waiter) => {
      asked.push(waiter);
      if (waiter === 41) slots.take();
      else if (waiter === 2) slots.wait(waiter); // it may not take the slot yet
    });
    slots.take();
    for (let waiter = 1; waiter <= 42; waiter += 1) slots.wait(waiter);
    slots.release();
    t.same(
      asked,
      Array.from({ length: 41 }, (_, index) => index + 1),
    );
    slots.release();
    t.same(asked.slice(41), [42, 2], 'a caller that waits again is behind the others, and asked once');
    t.ok(slots.waits());
  },
);
