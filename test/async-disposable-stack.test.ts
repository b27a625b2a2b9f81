import { setImmediate } from 'node:timers/promises';
import { OwnStack } from '@lapel/schemas/base/async-disposable-stack';
import t from 'tap';

/** The class of this Node, and the one that takes its place on an older one. */
const CLASSES = { 'that of Node': AsyncDisposableStack, 'our own': OwnStack as unknown as typeof AsyncDisposableStack };

for (const [name, Stack] of Object.entries(CLASSES)) {
  t.test(`a stack disposes of its values, the last one first: ${name}`, async (t) => {
    const ended: string[] = [];
    const stack = new Stack();
    const later = { [Symbol.asyncDispose]: async () => void ended.push('later') };
    t.equal(stack.use(later), later);
    stack.use({ [Symbol.dispose]: () => void ended.push('now') });
    t.equal(stack.use(null), null);
    stack.defer(async () => {
      await setImmediate();
      ended.push('deferred');
    });
    t.equal(stack.disposed, false);
    await stack[Symbol.asyncDispose]();
    t.same(ended, ['deferred', 'now', 'later']);
    t.equal(stack.disposed, true);
    await stack.disposeAsync();
    t.same(ended.length, 3, 'once');
    t.throws(() => stack.defer(() => undefined), ReferenceError);
    t.throws(() => stack.use(later), ReferenceError);
  });

  t.test(`a stack that moves takes its values along: ${name}`, async (t) => {
    const ended: string[] = [];
    const first = new Stack();
    first.defer(() => void ended.push('moved'));
    const second = first.move();
    await first.disposeAsync();
    t.same(ended, []);
    t.throws(() => first.move(), ReferenceError);
    await second.disposeAsync();
    t.same(ended, ['moved']);
  });

  t.test(`every value is disposed of, and every error kept: ${name}`, async (t) => {
    const ended: string[] = [];
    const stack = new Stack();
    stack.defer(() => void ended.push('the first value'));
    stack.defer(() => {
      throw new Error('second');
    });
    stack.defer(async () => {
      throw new Error('third');
    });
    await t.rejects(stack.disposeAsync(), {
      name: 'SuppressedError',
      error: { message: 'second' },
      suppressed: { message: 'third' },
    });
    t.same(ended, ['the first value']);
    t.throws(() => new Stack().use({} as AsyncDisposable), TypeError);
  });
}
