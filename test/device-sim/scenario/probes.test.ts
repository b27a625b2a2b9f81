import { randomUUID } from 'node:crypto';
import t from 'tap';
import { changed, type Faults, put, startBreakable, together } from './broken-service.ts';

type Api = NonNullable<Faults['api']>;

/** Enough actions for each probe. */
const SCENARIO = `devices: 2
phases: [{ name: work, duration: 1s, actions: [{ do: setLanguage, each: 100 }] }]
settle: 5s
`;

const scopesOf = (authorization = ''): string => {
  const [, claims = ''] = authorization.split('.');
  return Buffer.from(claims, 'base64url').toString();
};

/** A service whose tokens end when a newer one is issued. */
function oneTokenOnly(): Api {
  let newest = '';
  return async (passing, pass) => {
    const { method, path, headers } = passing;
    const isOfSettings = method === 'GET' && /^\/v1\/applications\/[^/]+$/.test(path);
    if (isOfSettings && headers.authorization !== `Bearer ${newest}`) return { status: 401, body: '{}' };
    const reply = await pass();
    newest = /"access_token":"([^"]+)"/.exec(reply.body)?.[1] ?? newest;
    return reply;
  };
}

/** A service that forgets an Idempotency-Key after forty calls. */
function forgetful(): Api {
  const firstUsedAt = new Map<string, number>();
  let calls = 0;
  return (passing, pass) => {
    const key = String(passing.headers['idempotency-key'] ?? '');
    if (key === '') return pass();
    calls += 1;
    const at = firstUsedAt.get(key) ?? calls;
    firstUsedAt.set(key, at);
    const isForgotten = calls - at > 40;
    return isForgotten ? pass({ headers: { ...passing.headers, 'idempotency-key': randomUUID() } }) : pass();
  };
}

/** Each fault of a service, and the trouble that it must cause. */
const FAULTS: Readonly<Record<string, { api: Api; text: RegExp }>> = {
  'a forged token is accepted': {
    api: async ({ headers }, pass) =>
      headers.authorization === 'Bearer eyJhbGciOiJub25lIn0.e30.' ? { status: 200, body: '{}' } : pass(),
    text: /the answer to a call with a forged token has the wrong answer\.status: 200 instead of 401/,
  },
  'a token is accepted whose claims were changed': {
    api: async ({ headers }, pass) =>
      scopesOf(headers.authorization).includes('"jti":"changed"') ? { status: 200, body: '{}' } : pass(),
    text: /the answer to a call with a token that was changed has the wrong answer\.status: 200 instead of 401/,
  },
  'a device of another developer is reachable': {
    api: async ({ path }, pass) => {
      const reply = await pass();
      const isForeign = reply.status === 403 && /\/devices\/(?!99)\d+\/status/.test(path);
      return isForeign ? { status: 200, body: '{}' } : reply;
    },
    text: /the answer to a call for a device of another developer has the wrong answer\.status: 200 instead of 403/,
  },
  'a device that does not exist is shown': {
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
  'a token ends when a newer one is issued': {
    api: oneTokenOnly(),
    text: /the answer to a call with the first token of the run has the wrong answer\.status: 401 instead of 200/,
  },
  'a key is forgotten': {
    api: forgetful(),
    text: /the answer to an Idempotency-Key that is repeated much later has the wrong answer\.transactionId: \d+ instead of \d+/,
  },
  'a repeated key is accepted for another request': {
    api: async (_, pass) => {
      const reply = await pass();
      return reply.status === 422 ? { status: 201, body: '{"transactionId":1}' } : reply;
    },
    text: /the answer to an Idempotency-Key that is repeated with another request has the wrong answer\.status: 200 instead of 422/,
  },
};

t.test('what a service must refuse', { timeout: 300_000 }, async (t) => {
  const play = await startBreakable(t);

  t.test('is refused as documented by a service that keeps its promises', async (t) => {
    const { verdicts } = await play(t, SCENARIO, {});
    for (const { text, holds, shown, story } of verdicts) t.ok(holds, `${text}: ${shown}`, { story });
  });

  // Each fault is about another probe.
  t.test('each of them that a service does is wrong, with a story', async (t) => {
    const { verdicts, troubles } = await play(t, SCENARIO, together(Object.values(FAULTS)));
    const verdict = verdicts.find((one) => one.text === 'wrong == 0');
    t.equal(verdict?.holds, false);
    const told = [...troubles, ...(verdict?.story ?? [])].join('\n');
    for (const [name, { text }] of Object.entries(FAULTS)) t.match(told, text, name);
  });
});
