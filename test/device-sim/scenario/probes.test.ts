import t from 'tap';
import { changed, type Faults, put, startBreakable } from './broken-service.ts';

/** Enough actions for each probe. */
const SCENARIO = `devices: 2
phases: [{ name: work, duration: 1s, actions: [{ do: setLanguage, each: 60 }] }]
settle: 5s
`;

const scopesOf = (authorization = ''): string => {
  const [, claims = ''] = authorization.split('.');
  return Buffer.from(claims, 'base64url').toString();
};

/** Each fault of a service, and the trouble that it must cause. */
const FAULTS: Readonly<Record<string, { api: NonNullable<Faults['api']>; text: RegExp }>> = {
  'a forged token is accepted': {
    api: async ({ headers }, pass) =>
      headers.authorization === 'Bearer eyJhbGciOiJub25lIn0.e30.' ? { status: 200, body: '{}' } : pass(),
    text: /the answer to a call with a forged token has the wrong answer\.status: 200 instead of 401/,
  },
  'a device of another developer is shown': {
    api: async ({ path }, pass) => (/\/devices\/99\d+\/status/.test(path) ? { status: 200, body: '{}' } : pass()),
    text: /the answer to a call for a device that the developer does not have has the wrong answer\.status: 200 instead of 403/,
  },
  'the scope of a token is not looked at': {
    api: async ({ method, headers }, pass) =>
      method === 'PUT' &&
      headers.authorization?.includes('.') &&
      !scopesOf(headers.authorization).includes('device:write')
        ? { status: 201, body: '{"transactionId":1}' }
        : pass(),
    text: /the answer to a call with a token that lacks the scope has the wrong answer\.status: 200 instead of 403/,
  },
  'a repeated key makes another transaction': {
    api: async (_, pass) => {
      const reply = await pass();
      if (!reply.replayed) return reply;
      return { ...reply, body: changed(reply.body, (answer) => put(answer, 'transactionId', (id) => Number(id) + 1)) };
    },
    text: /the answer to an Idempotency-Key that is repeated with the same request has the wrong answer\.transactionId: \d+ instead of \d+/,
  },
  'a repeated key is accepted for another request': {
    api: async (_, pass) => {
      const reply = await pass();
      return reply.status === 422 ? { status: 201, body: '{"transactionId":1}' } : reply;
    },
    text: /the answer to an Idempotency-Key that is repeated with another request has the wrong answer\.status: 200 instead of 422/,
  },
};

t.test('what a service must refuse', { timeout: 120_000 }, async (t) => {
  const play = await startBreakable(t);

  t.test('is refused as documented by a service that keeps its promises', async (t) => {
    const { verdicts } = await play(t, SCENARIO, {});
    for (const { text, holds, shown, story } of verdicts) t.ok(holds, `${text}: ${shown}`, { story });
  });

  for (const [name, { api, text }] of Object.entries(FAULTS)) {
    t.test(`${name}: that is wrong, with a story`, async (t) => {
      const { verdicts, troubles } = await play(t, SCENARIO, { api });
      const verdict = verdicts.find((one) => one.text === 'wrong == 0');
      t.equal(verdict?.holds, false);
      t.match([...troubles, ...(verdict?.story ?? [])].join('\n'), text);
    });
  }
});
