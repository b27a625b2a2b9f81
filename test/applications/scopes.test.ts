import t from 'tap';
import { parseScopes, SCOPES } from '../../src/core/applications/scopes.ts';

void t.test('known scopes are taken in their order, each once', async (t) => {
  const all = Object.keys(SCOPES);
  t.equal(all.length, 5);
  t.strictSame(parseScopes(all.join(' ')), all);
  t.strictSame(parseScopes('svc:device:write svc:device:read svc:device:write'), [
    'svc:device:write',
    'svc:device:read',
  ]);
});

void t.test('no scope, an unknown one, or other white space is refused', async (t) => {
  for (const text of ['', 'svc:device:admin', 'svc:device:read svc:x', 'svc:device:read\tsvc:device:write', 'toString'])
    t.equal(parseScopes(text), undefined, JSON.stringify(text));
});
