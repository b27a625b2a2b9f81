import { answerOf } from '@lapel/device/core/answer';
import t from 'tap';

t.test('a result that the service would leave out is left out, and the command has succeeded', async (t) => {
  const text = (length: number) => ({ result: { text: 'x'.repeat(length) } });
  t.equal(answerOf(7, text(65_536 - 11)).fault, undefined);
  t.same(answerOf(7, text(65_536 - 10)), {
    ack: { transactionId: 7, status: 'succeeded' },
    fault: 'the result has 65537 bytes; 65,536 are allowed',
  });
  t.same(answerOf(7, { result: [1] }), {
    ack: { transactionId: 7, status: 'succeeded' },
    fault: 'the result is no object',
  });
});

t.test('a code that is too long is cut', async (t) => {
  const { ack } = answerOf(7, { failure: { code: 'X'.repeat(65), message: '' } });
  t.same(ack.error, { code: 'X'.repeat(64), message: '' });
});
